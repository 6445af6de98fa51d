import { statusWrite } from '#shared/conversation/writes/status-write.ts';
import { finishWrites, type FinishBatch } from '#shared/conversation/writes/turn-writes.ts';
import { mayBeCommitted } from '#shared/errors.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { takenOverError } from '../answer/taken-over.ts';
import type { Attempt } from '../store/turn-store.ts';
import type { TurnWriter } from '../store/turn-writer.ts';
import type { RequestAtEnd } from './request-at-end.ts';

/** How often a finish is tried before the turn is left to its lease. */
const FINISH_TRIES = 5;
const FINISH_RETRY_MS = 100;

/** JSON of frames that the finish stores beside the answer, bytes; what is more is flushed before. */
const FINISH_FRAMES_BYTES = 512 * 1024;

/**
 * Commits the end of a turn, or its pause, with the frames that are not stored yet and the closing ones. A lost reply and
 * a lost guard look the same from here, so the turn itself is asked: terminal by this producer is success.
 * Resolves to the request that the workers are to be told of. Throws TURN_TAKEN_OVER, StoreUnavailableError.
 */
export async function commitFinish(
  dependencies: ChatDependencies,
  finish: {
    batch: FinishBatch;
    attempt: Attempt;
    writer: Pick<TurnWriter, 'flushDownTo' | 'last' | 'recover' | 'obsoletePieces'>;
    closing: readonly StreamFrame[];
    /** Told to the owner's devices in the same batch; absent when the state of compaction stays. */
    status: ContextObject | undefined;
    decided: RequestAtEnd;
    /** For another try: sees what others did meanwhile. */
    decideAgain: () => Promise<RequestAtEnd>;
  },
): Promise<FinishBatch['compactionRequest']> {
  const { store, clock } = dependencies;
  const { batch, attempt, writer, closing, status, decideAgain } = finish;
  let { decided } = finish;
  /** Of any try: which of them was applied is not known after a lost reply, and a hint more does no harm. */
  let possibleRequest = decided.compactionRequest;
  const lastFrameId = closing.at(-1)?.id ?? 0;
  for (let tries = 1; ; tries++) {
    try {
      await writer.flushDownTo(FINISH_FRAMES_BYTES);
      const { conversationId } = attempt;
      const statusWrites = status ? [await statusWrite(store, conversationId, { ...status })] : [];
      const end = batch.waitsUntil ? 'pause' : 'final';
      const stream = { writes: writer.last(closing, { end, now: batch.now }), lastFrameId };
      const { turnUpdateTime } = attempt;
      const writes = finishWrites({ ...batch, ...decided, turnUpdateTime, stream });
      await store.commit([...writes, ...writer.obsoletePieces(), ...statusWrites]);
      return decided.compactionRequest;
    } catch (error) {
      if (!mayBeCommitted(error) || tries >= FINISH_TRIES) throw error;
      await clock.wait(FINISH_RETRY_MS * (tries - 1));
      const standing = await writer.recover().catch(() => 'own' as const);
      if (standing === 'ended') return possibleRequest;
      if (standing === 'lost') throw takenOverError(attempt);
      // A conversation document that others keep changing is not waited for: a request too many ends as NOOP.
      decided =
        tries < FINISH_TRIES - 1
          ? await decideAgain()
          : { compactionRequest: batch.compactionRequest };
      possibleRequest ??= decided.compactionRequest;
    }
  }
}
