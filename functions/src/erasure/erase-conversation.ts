import { readPartialAnswer } from '#shared/wire/partial-answer.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { eraseNotesFrom } from '#functions/memory/change-notes.ts';
import {
  readAnyConversation,
  readTurnDocuments,
} from '#shared/conversation/context/read-conversation.ts';
import { type Conversation, tombstoneWrite } from '#shared/conversation/documents/conversation.ts';
import {
  compactionJobPath,
  conversationPath,
  statusPath,
} from '#shared/conversation/documents/paths.ts';
import { newestAnswer } from '#shared/conversation/documents/last-message.ts';
import { goneInboxWrites } from '#shared/conversation/documents/inbox.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { queueSeqs } from '#shared/conversation/start-decision.ts';
import {
  abandonedFields,
  closedAs,
  closeTurnWrites,
} from '#shared/conversation/writes/abandoned-turns.ts';
import { GuardLostError } from '#shared/lib/errors.ts';
import type {
  FileBucket,
  AtCrashPoint,
  Clock,
  DocumentStore,
  Logger,
  Write,
} from '#shared/ports/ports.ts';
import { isTurnKey } from '#shared/uploads/upload.ts';
import { firstFrameId } from '#shared/conversation/frame-ids.ts';
import { releaseUploads } from './release-uploads.ts';

/**
 * The first step of erasing a conversation, one batch: the conversation document is `erasing` and takes a generation,
 * open turns end, the compaction job and the status go. From here on every guard of chat and worker fails, so nothing
 * new appears below it but chunks of a producer that has not noticed, until `appendsUntil`. `isWanted` is asked again
 * with every reading, and may throw. `erasing`: it is marked, now or before. `kept`: it is not wanted. `gone`: there is
 * none, or a tombstone. Throws GuardLostError when others won every try, StoreUnavailableError.
 */
export async function markErasing(
  { store, clock }: { store: Pick<DocumentStore, 'get' | 'query' | 'commit'>; clock: Clock },
  conversationId: string,
  isWanted: (conversation: Conversation, updateTime: string) => boolean,
): Promise<'erasing' | 'kept' | 'gone'> {
  return retryWhenLost(clock, async () => {
    const conversation = await readAnyConversation(store, conversationId);
    if (!conversation || conversation.value.state === 'erased') return 'gone';
    if (!isWanted(conversation.value, conversation.updateTime)) return 'kept';
    if (conversation.value.state === 'erasing') return 'erasing';
    const generation = conversation.value.generation + 1;
    const now = clock.now();
    const closed = await closeTurns(store, {
      conversationId,
      conversation: conversation.value,
      now,
      keepsAnswers: false,
    });
    await store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: {
          state: 'erasing',
          generation,
          changedIn: generation,
          updateTime: now,
          compactionRequests: {},
          ...closed.fields,
        },
        remove: ['open', 'queue', 'pendingErasure'],
        guard: { updateTime: conversation.updateTime },
      },
      ...closed.writes,
      { op: 'delete', path: compactionJobPath(conversationId) },
      { op: 'delete', path: statusPath(conversationId) },
      ...goneInboxWrites({ conversationId, ownerUid: conversation.value.ownerUid }, now),
    ]);
    return 'erasing';
  });
}

interface EraseDependencies {
  store: DocumentStore;
  clock: Clock;
  logger: Logger;
  atCrashPoint: AtCrashPoint;
  /** The bucket of uploads; undefined where there are none. */
  files?: FileBucket | undefined;
}

/**
 * Erases a conversation that is marked as erasing: everything below it, again until a pass finds nothing, the notes
 * that a tool made of it and the uploads that nothing else names, then the conversation document, of which a tombstone
 * stays. Where a producer may still append, it waits until that is over and looks again. May stop anywhere and be
 * repeated. `nothing`: it is not marked, gone, or erased already. Throws the signal's reason, FILES_UNAVAILABLE,
 * StoreUnavailableError.
 */
export async function eraseConversation(
  dependencies: EraseDependencies,
  conversationId: string,
  signal: AbortSignal,
): Promise<'erased' | 'nothing'> {
  const { store, clock, logger } = dependencies;
  let documents = 0;
  for (;;) {
    signal.throwIfAborted();
    const conversation = await readAnyConversation(store, conversationId);
    if (conversation?.value.state !== 'erasing') return 'nothing';
    await passCrashPoint(dependencies, 'erase-begun');
    const deleted = await store.deleteBelow(conversationPath(conversationId), signal);
    await passCrashPoint(dependencies, 'erase-pass-done');
    documents += deleted;
    if (deleted > 0) continue;
    const { generation, ownerUid: uid, appendsUntil = new Date(0) } = conversation.value;
    const waitMs = appendsUntil.getTime() - clock.now().getTime();
    if (waitMs > 0) {
      await clock.wait(waitMs, signal);
      continue;
    }
    if (uid !== '') await eraseNotesFrom(dependencies, { uid, conversationId });
    const isReleased = (turnKey: string) => isTurnKey(turnKey, conversationId);
    await releaseUploads(dependencies, { ownerUid: uid, isReleased });
    await passCrashPoint(dependencies, 'erase-uploads-released');
    try {
      await store.commit([
        tombstoneWrite(conversationId, { ...conversation, generation }, clock.now()),
      ]);
    } catch (error) {
      // Another worker erases it too; whoever reads again finds it done.
      if (!(error instanceof GuardLostError)) throw error;
      continue;
    }
    await passCrashPoint(dependencies, 'erase-tombstone-written');
    logger.log('INFO', 'conversation_erased', { conversationId, documents });
    return 'erased';
  }
}

/** The turns that run or wait: the open one and the queue behind it. */
const unfinishedSeqs = (conversation: Conversation): number[] => [
  ...new Set([...(conversation.open ? [conversation.open.seq] : []), ...queueSeqs(conversation)]),
];

/** Turns that end with their conversation: the writes, and what the conversation document says of it. */
export interface ClosedTurns {
  writes: Write[];
  fields: Pick<Conversation, 'appendsUntil' | 'answered'>;
}

/**
 * Ends every turn that runs or waits, each under its own update time: its producer finds it lost and
 * stops, or cannot renew its lease. `keepsAnswers`: what one had said and stored so far stays, as a cancellation leaves
 * it. For the batch that ends the conversation itself, which takes `open` and `queue` off the conversation document.
 */
export async function closeTurns(
  store: Pick<DocumentStore, 'get' | 'query'>,
  target: { conversationId: string; conversation: Conversation; now: Date; keepsAnswers: boolean },
): Promise<ClosedTurns> {
  const { conversationId, conversation, now } = target;
  const turns = await readTurnDocuments(store, conversationId, unfinishedSeqs(conversation));
  const counting = meterCounting(conversation);
  const writes: Write[] = [];
  let { appendsUntil, answered } = conversation;
  for (const turn of turns) {
    if (!turn || isTerminal(turn.value.state)) continue;
    const { state, attempt, leaseUntil } = turn.value;
    const isAppended = state === 'running' && leaseUntil > now;
    if (isAppended && leaseUntil > (appendsUntil ?? now)) appendsUntil = leaseUntil;
    const partial = target.keepsAnswers
      ? await readPartialAnswer(store, { conversationId, turn, counting })
      : undefined;
    const shownThrough = isAppended ? (partial?.throughId ?? firstFrameId(attempt) - 1) : undefined;
    const end = { state: 'cancelled', partial, shownThrough } as const;
    const closing = {
      ...abandonedFields(turn, now),
      ...(!target.keepsAnswers && { rounds: undefined }),
      end,
    };
    writes.push(...closeTurnWrites(conversationId, { ...closing, now }));
    answered = newestAnswer(answered, closedAs(closing, now));
  }
  return {
    writes,
    fields: {
      ...(appendsUntil && { appendsUntil }),
      ...(target.keepsAnswers && answered && { answered }),
    },
  };
}
