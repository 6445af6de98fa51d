import { readPartialAnswer } from '#shared/wire/partial-answer.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { requestAfterClosing } from '#functions/context/request-after-closing.ts';
import { publishRequest } from '#functions/events/publish-request.ts';
import {
  endedBy,
  type EndedTurn,
  publishTurnFinished,
} from '#functions/events/publish-turn-event.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { settleAll } from '#functions/lib/promises.ts';
import { retry } from '#functions/lib/retry.ts';
import {
  readConversation,
  readTurnDocuments,
} from '#shared/conversation/context/read-conversation.ts';
import {
  type CompactionRequests,
  type Conversation,
  sweepShards,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import { inboxWrites } from '#shared/conversation/documents/inbox.ts';
import { conversationPath, turnPath } from '#shared/conversation/documents/paths.ts';
import { isTerminal, type TurnDocument } from '#shared/conversation/documents/turn.ts';
import { isHeld, queueAfter, queueSeqs } from '#shared/conversation/start-decision.ts';
import {
  abandonedFields,
  type AbandonedTurn,
  closeAbandonedWrites,
  newestClosed,
  type PartialAnswer,
  toClosingTurn,
} from '#shared/conversation/writes/abandoned-turns.ts';
import type { DocumentFields, StoredDocument, Write } from '#shared/ports/ports.ts';
import { fieldAt } from '#shared/store/many-documents.ts';
import {
  conversationIdFromPath,
  earlierInShard,
  earlierThan,
  forEachItem,
  readConversations,
  type Sweep,
} from './sweep-pass.ts';

/**
 * Chat changes a conversation document at any moment: a sweep that loses so often has met a conversation that is alive.
 */
const REPAIR_TRIES = 5;
/** In each shard, and of the queues. */
const AT_ONCE = 3;

/**
 * The turns of a conversation that may be abandoned: the open one, and those that `conversation.queue` spans, in
 * order.
 */
interface UnfinishedTurns {
  conversationId: string;
  now: Date;
  conversation: Versioned<Conversation>;
  open: TurnDocument | undefined;
  /** What the answer of the open turn had come to, where its user asked to stop it. */
  partial?: PartialAnswer | undefined;
  queue: readonly TurnDocument[];
}

/** A turn without a document is not held. */
const isOpenHeld = ({ open, now }: UnfinishedTurns) =>
  open !== undefined && isHeld(open.value, now);

/** The turns at the head of the queue, up to the first that a waiter holds; ended ones are among them. */
function abandonedInQueue({ queue, now }: UnfinishedTurns): TurnDocument[] {
  const held = queue.findIndex(({ value }) => isHeld(value, now));
  return queue.slice(0, held === -1 ? undefined : held);
}

/** What the batch changes of the conversation document; undefined when that stays as it is. */
function conversationWrite(
  unfinished: UnfinishedTurns,
  unheld: readonly TurnDocument[],
): SweptTurns['conversation'] | undefined {
  const { conversationId, conversation } = unfinished;
  const isOpenOver = conversation.value.open !== undefined && !isOpenHeld(unfinished);
  const isQueueOver =
    conversation.value.queue !== undefined && (unheld.length > 0 || !unfinished.queue.length);
  if (!isOpenOver && !isQueueOver) return undefined;
  const next = queueAfter(
    unfinished.queue.map(({ value }) => value),
    unheld.at(-1)?.value.seq ?? 0,
  );
  const fields: DocumentFields = isQueueOver && next ? { queue: { ...next } } : {};
  const remove = [...(isOpenOver ? ['open'] : []), ...(isQueueOver && !next ? ['queue'] : [])];
  const guard = { updateTime: conversation.updateTime };
  return { op: 'update', path: conversationPath(conversationId), fields, remove, guard };
}

/** What the batch of a sweep writes, and which turns it ends. */
interface SweptTurns {
  conversation: Extract<Write, { op: 'update' }>;
  inbox: readonly Write[];
  abandoned: AbandonedTurn[];
  closed: EndedTurn[];
}

/**
 * What the sweep writes to close the abandoned turns; undefined when there are none. The update times of the turns and
 * of the conversation document guard the batch: it fails if a turn is taken over, or the queue moves, meanwhile.
 */
function sweptTurns(unfinished: UnfinishedTurns): SweptTurns | undefined {
  const { conversationId, now, open, partial } = unfinished;
  const unheld = abandonedInQueue(unfinished);
  const conversation = conversationWrite(unfinished, unheld);
  if (!conversation) return undefined;
  const ending = [...(open && !isOpenHeld(unfinished) ? [open] : []), ...unheld].filter(
    ({ value }) => !isTerminal(value.state),
  );
  const abandoned = ending.map((turn) => ({
    ...abandonedFields(turn, now),
    partial: turn === open ? partial : undefined,
  }));
  const { open: openBefore, ...before } = unfinished.conversation.value;
  const isOpenLeft = openBefore && conversation.remove?.includes('open') !== true;
  // While an earlier turn is answered, its end is what the inbox tells of next.
  const newest = isOpenLeft ? {} : newestClosed(abandoned, now, before.answered);
  const after = { ...before, ...newest, ...(isOpenLeft && { open: openBefore }) };
  const read = 'answered' in newest ? { unread: true } : {};
  return {
    conversation: { ...conversation, fields: { ...conversation.fields, ...newest } },
    inbox: inboxWrites(conversationId, after, { now, read }),
    abandoned,
    closed: ending.map((turn) => endedBy(turn.value, toClosingTurn(abandonedFields(turn, now)))),
  };
}

/** The turns of one conversation that have not ended; undefined where the conversation takes no writes any more. */
async function readUnfinished(
  { dependencies }: Sweep,
  conversationId: string,
): Promise<UnfinishedTurns | undefined> {
  const { store, clock } = dependencies;
  const conversation = await readConversation(store, conversationId);
  if (conversation?.value.state !== 'live' && conversation?.value.state !== 'deleted')
    return undefined;
  const openSeq = conversation.value.open?.seq;
  const seqs = [...(openSeq === undefined ? [] : [openSeq]), ...queueSeqs(conversation.value)];
  const found = await readTurnDocuments(store, conversationId, seqs);
  const turns = found.filter((turn) => turn !== undefined);
  const open = turns.find(({ value }) => value.seq === openSeq);
  const counting = meterCounting(conversation.value);
  const partial = open?.value.cancelRequested
    ? await readPartialAnswer(store, { conversationId, turn: open, counting })
    : undefined;
  return {
    conversationId,
    now: clock.now(),
    conversation,
    open,
    partial,
    queue: turns.filter(({ value }) => value.seq !== openSeq),
  };
}

/** The compaction that the context needs with the open turn in it, where that is closed. */
async function requestOfClosed(
  { dependencies }: Sweep,
  { conversationId, conversation, open }: UnfinishedTurns,
  { abandoned }: SweptTurns,
): Promise<CompactionRequests['auto']> {
  const own = abandoned.find(({ seq }) => seq === open?.value.seq);
  if (!own) return undefined;
  const closing = toClosingTurn(own);
  return requestAfterClosing(dependencies, {
    conversationId,
    conversation: conversation.value,
    closing,
  });
}

/** Closes the abandoned turns of one conversation; returns how many. */
async function repairTurns(sweep: Sweep, conversationId: string): Promise<number> {
  const { dependencies } = sweep;
  const attempt = async () => {
    const found = await readUnfinished(sweep, conversationId);
    const swept = found && sweptTurns(found);
    if (!found || !swept) return 0;
    const { conversation, abandoned, closed } = swept;
    const request = await requestOfClosed(sweep, found, swept);
    const fields = {
      ...conversation.fields,
      ...(request && { 'compactionRequests.auto': { ...request } }),
    };
    await dependencies.store.commit([
      { ...conversation, fields },
      ...swept.inbox,
      ...closeAbandonedWrites(conversationId, { abandoned, now: found.now }),
    ]);
    // No client waited for them: it would have taken its turn over.
    const told = closed.map((turn) =>
      publishTurnFinished(dependencies, conversationId, { turn, isAttended: false }),
    );
    await Promise.all(told);
    if (request)
      await publishRequest(dependencies, {
        conversationId,
        requestId: request.requestId,
        trigger: request.trigger,
      });
    return closed.length;
  };
  return retry(attempt, { mostTries: REPAIR_TRIES });
}

/** The open turn's path; that of a conversation document that cannot be read names no turn. */
const openTurnPath = (conversation: StoredDocument): string =>
  turnPath(
    conversationIdFromPath(conversation),
    Number(fieldAt(conversation.fields, 'open.seq') ?? 0),
  );

/** Conversations of a page whose open turn nobody answers: the conversation document knows the lease of its start alone. */
async function withoutProducer(
  { dependencies }: Sweep,
  page: readonly StoredDocument[],
): Promise<StoredDocument[]> {
  const turns = await dependencies.store.get(page.map(openTurnPath));
  const now = dependencies.clock.now();
  return page.filter((_, i) => {
    const leaseUntil = turns[i]?.fields['leaseUntil'];
    return !(leaseUntil instanceof Date) || leaseUntil <= now;
  });
}

/**
 * Closes the abandoned turns, those that were being answered and those that waited, so that
 * the next message does not find them in its way.
 */
export async function sweepTurns(sweep: Sweep): Promise<void> {
  const now = sweep.dependencies.clock.now();
  const mend = async (conversationDocuments: readonly StoredDocument[]) =>
    forEachItem(
      sweep,
      { pass: 'turns', items: conversationDocuments, atOnce: AT_ONCE },
      async (conversation) => {
        const closed = await repairTurns(sweep, conversationIdFromPath(conversation));
        sweep.counts.turnsClosed += closed;
        await passWorkerCrashPoint(sweep.dependencies, 'sweep-turns-mended');
      },
    );
  const repairOpen = async (shard: number) => {
    for await (const page of readConversations(
      sweep,
      earlierInShard(shard, 'open.leaseUntil', now),
    ))
      await mend(await withoutProducer(sweep, page));
  };
  const repairQueues = async () => {
    for await (const page of readConversations(sweep, earlierThan('queue.leaseUntil', now)))
      await mend(page);
  };
  await settleAll([...sweepShards.map(repairOpen), repairQueues()]);
}
