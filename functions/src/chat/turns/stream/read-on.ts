import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { chainIterators } from '#functions/lib/async-iterators.ts';
import type { Abandoned } from '../live/live-turn.ts';
import type { SendHandle } from '../send/send-request.ts';

/**
 * Frames of a turn to its end: one that nobody answers any more is sent again, and its reader, who counts as waiting for it
 * until they have `left`, reads on. Where the turn goes on at another instance, its frames are read there
 * (`start-production.ts`, `follow-frames.ts`).
 */
export const readOn = (
  frames: AsyncIterableIterator<StreamFrame, Abandoned | undefined>,
  sendAgain: (abandoned: Abandoned) => Promise<SendHandle>,
  left: AbortSignal | undefined,
): AsyncIterableIterator<StreamFrame> =>
  chainIterators(frames, async (abandoned) => {
    if (!abandoned) return undefined;
    const handle = await sendAgain(abandoned);
    if (left) handle.subscribe(left);
    return handle.frames(left)[Symbol.asyncIterator]();
  });
