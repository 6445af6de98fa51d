import { badField, GuardLostError } from '#shared/lib/errors.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import { queueSeqs } from '#shared/conversation/start-decision.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { turnId, turnPath } from '#shared/conversation/documents/paths.ts';
import {
  type Turn,
  type TurnDocument,
  isStreamAtEnd,
} from '#shared/conversation/documents/turn.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import { requestCancel } from '#functions/chat/turns/finish/cancel-turn.ts';
import { liveTurnKey } from '#functions/chat/turns/live-turn.ts';

/*
 * The clients of the AI SDK and of OpenAI stop an answer by closing the connection, as a reload and a lost network do. So an answer
 * whose reader has left goes on for DISCONNECT_GRACE_MS; unless a reader comes back by then, it is stopped.
 */

interface Target {
  conversationId: string;
  seq: number;
}

const DISCONNECT_HEADER = 'x-on-disconnect';

/** The header with which a client says what its leaving means, for the declarations of routes. */
export const DISCONNECT_HEADERS = {
  'X-On-Disconnect': {
    description:
      '`continue`: the answer goes on when the connection of its stream closes. Default `stop`: it is stopped after ten seconds, unless somebody reads it again by then.',
    enum: ['stop', 'continue'],
  },
};

/** Whether an answer is stopped when its reader leaves. Throws BAD_FIELD for a word that is none of the two. */
export function stopsOnDisconnect(header: (name: string) => string | undefined): boolean {
  const wish = header(DISCONNECT_HEADER) ?? 'stop';
  if (wish === 'stop' || wish === 'continue') return wish === 'stop';
  throw badField('X-On-Disconnect', 'The header `X-On-Disconnect` must be `stop` or `continue`.');
}

const isAwaitedHere = ({ liveTurns }: Pick<ChatDependencies, 'liveTurns'>, target: Target) =>
  liveTurns.get(liveTurnKey(target.conversationId, target.seq))?.isAwaited() === true;

/** Stores in a turn that has not ended when its reader left, or that a reader came back. */
async function note(
  dependencies: ChatDependencies,
  { conversationId, seq }: Target,
  leftAt: Date | undefined,
): Promise<void> {
  const { store, clock } = dependencies;
  await retryWhenLost(clock, async () => {
    const [turn] = await readTurnDocuments(store, conversationId, [seq]);
    if (!turn || isStreamAtEnd(turn.value.state)) return;
    if (leftAt === undefined && turn.value.leftAt === undefined) return;
    await store.commit([
      {
        op: 'update',
        path: turnPath(conversationId, seq),
        ...(leftAt ? { fields: { leftAt } } : { fields: {}, remove: ['leftAt'] }),
        guard: { updateTime: turn.updateTime },
      },
    ]);
  });
}

const hasLeft = (turn: TurnDocument['value'], leftAt: Date) =>
  !isStreamAtEnd(turn.state) && turn.leftAt?.getTime() === leftAt.getTime();

async function stopAfterGrace(dependencies: ChatDependencies, target: Target): Promise<void> {
  const { clock, config, shutdown, store } = dependencies;
  if (isAwaitedHere(dependencies, target)) return;
  const leftAt = clock.now();
  await note(dependencies, target, leftAt);
  await clock.wait(config.DISCONNECT_GRACE_MS, shutdown);
  // The process ends: the instance that goes on with the turn must not find it stopped.
  if (shutdown.aborted || isAwaitedHere(dependencies, target)) return;
  const [turn] = await readTurnDocuments(store, target.conversationId, [target.seq]);
  if (turn && hasLeft(turn.value, leftAt)) await requestCancel(dependencies, target);
}

/** The reader of an answer, until the answer ends or the reader leaves. */
interface Reader {
  /** Passes frames to the reader; at their end there is nothing left to stop. */
  read: (frames: AsyncIterable<StreamFrame>) => AsyncIterable<StreamFrame>;
  /**
   * Resolves when the answer has ended, or, where the reader left before that, when it is decided whether it is
   * stopped.
   */
  settled: Promise<void>;
}

/** A reader whose leaving changes nothing. */
export const unwatched: Reader = { read: (frames) => frames, settled: Promise.resolve() };

/** Stops the answer of a turn when its reader leaves (`left`) and none comes back in time. */
export function watchReader(
  dependencies: ChatDependencies,
  target: Target & { left: AbortSignal },
): Reader {
  const { left, ...turn } = target;
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  let isAtEnd = false;
  const leave = () => {
    if (isAtEnd) return;
    const stopped = stopAfterGrace(dependencies, turn).catch((error: unknown) => {
      const reason = failureReason(error);
      dependencies.logger.log('WARNING', 'stop_failed', { turnId: turnId(turn.seq), reason });
    });
    void stopped.then(resolve);
  };
  if (left.aborted) leave();
  else left.addEventListener('abort', leave, { once: true });
  return {
    settled,
    async *read(frames) {
      try {
        yield* frames;
        isAtEnd = true;
      } catch (error) {
        isAtEnd = true;
        throw error;
      } finally {
        if (isAtEnd) resolve();
      }
    },
  };
}

/** Stores in a turn that it has a reader again. */
export async function comeBack(
  dependencies: ChatDependencies,
  { conversationId, turn }: { conversationId: string; turn: Pick<Turn, 'seq' | 'leftAt'> },
): Promise<void> {
  if (!turn.leftAt) return;
  await note(dependencies, { conversationId, seq: turn.seq }, undefined).catch((error: unknown) => {
    if (!(error instanceof GuardLostError)) throw error;
  });
}

/** Whether the turn that a new message would have to wait for has no reader any more: it may be stopped at once. */
export async function isLeftAlone(
  dependencies: ChatDependencies,
  { conversationId, conversation }: { conversationId: string; conversation: Conversation },
): Promise<boolean> {
  const seq = conversation.open?.seq;
  if (seq === undefined || queueSeqs(conversation).length > 0) return false;
  const [turn] = await readTurnDocuments(dependencies.store, conversationId, [seq]);
  return turn?.value.leftAt !== undefined && !isAwaitedHere(dependencies, { conversationId, seq });
}
