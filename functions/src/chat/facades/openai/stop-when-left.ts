import { seqOfId } from '#shared/conversation/documents/paths.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { stopsOnDisconnect, unwatched, watchReader } from '#functions/chat/turns/stream/leaving.ts';
import type { Completion } from './completion.ts';

/**
 * A streamed completion whose turn is stopped when its reader leaves and does not come back in time. `settled` resolves
 * when that is decided. Throws BAD_FIELD.
 */
export function stopWhenLeft<Stored extends Completion>(
  dependencies: RouteDependencies,
  completion: Stored,
  { header, left }: { header: (name: string) => string | undefined; left: AbortSignal },
): { completion: Stored; settled: Promise<void> } {
  const watches = stopsOnDisconnect(header);
  const { recap } = completion;
  const seq = recap && seqOfId(recap.turnId, 't');
  const watch =
    watches && recap && seq !== undefined
      ? watchReader(dependencies, { conversationId: recap.conversationId, seq, left })
      : unwatched;
  return {
    completion: {
      ...completion,
      // Who only looks whether the first word is there is no reader.
      frames: (reader?: AbortSignal) =>
        reader ? watch.read(completion.frames(reader)) : completion.frames(),
    },
    settled: watch.settled,
  };
}
