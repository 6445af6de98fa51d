import type { StreamFrame } from '../../../../shared/wire/stream.ts';
import type { Reply, RouteDependencies, StreamReader } from '../route.ts';
import { sseText, STREAM_HEADERS } from '../http/sse.ts';

/**
 * A turn's frames as an event stream. `work` is what must end before the request counts as served.
 */
export function streamReply(
  { clock, heartbeatMs }: Pick<RouteDependencies, 'clock' | 'heartbeatMs'>,
  stream: {
    turnId: string;
    generation: number;
    frames: (reader: StreamReader) => AsyncIterable<StreamFrame>;
    work: Promise<unknown>;
  },
): Reply {
  const { turnId, generation, frames, work } = stream;
  return {
    kind: 'stream',
    headers: { ...STREAM_HEADERS, 'x-turn-id': turnId },
    text: (reader) =>
      sseText(frames(reader), { clock, heartbeatMs, generation, left: reader.left }),
    work,
  };
}
