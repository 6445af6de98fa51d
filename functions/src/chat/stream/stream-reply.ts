import type { StreamFrame } from '../../../../shared/wire/stream.ts';
import type { Reply, RouteDependencies } from '../route.ts';
import { sseText, STREAM_HEADERS } from '../http/sse.ts';

/**
 * A turn's frames as an event stream; `frames` gets a signal that fires when the reader has left. `work` is
 * what must end before the request counts as served.
 */
export function streamReply(
  { clock, heartbeatMs }: Pick<RouteDependencies, 'clock' | 'heartbeatMs'>,
  stream: {
    turnId: string;
    generation: number;
    frames: (left: AbortSignal) => AsyncIterable<StreamFrame>;
    work: Promise<unknown>;
  },
): Reply {
  const { turnId, generation, frames, work } = stream;
  return {
    kind: 'stream',
    headers: { ...STREAM_HEADERS, 'x-turn-id': turnId },
    text: (left) => sseText(frames(left), { clock, heartbeatMs, generation, left }),
    work,
  };
}
