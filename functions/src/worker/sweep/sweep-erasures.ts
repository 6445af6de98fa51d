import { markErasing, eraseConversation } from '#functions/erasure/erase-conversation.ts';
import { finishErasure } from '#functions/erasure/finish-erasure.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { eraseEvent } from '#shared/compaction/event.ts';
import {
  decodeAnyConversation,
  type Conversation,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import type { Query, StoredDocument } from '#shared/ports/ports.ts';
import {
  conversationIdFromPath,
  earlierThan,
  forEachItem,
  readConversations,
  type Sweep,
} from './sweep-pass.ts';

/** A fork copies within seconds; one that is older has lost its maker. */
const FORK_GIVEN_UP_AFTER_MS = 10 * 60_000;
/** The one who erased a turn finishes within its request; after this the sweep does. */
const ERASURE_LEFT_AFTER_MS = 60_000;
/** An erasure deletes thousands of documents: a few at once keep the database free for chat. */
const ERASED_AT_ONCE = 3;
/**
 * Conversations that one sweep erases itself. Of more it tells the workers, who erase them side by side: a minute of
 * a sweep is not enough where a day's conversations expire together.
 */
const MOST_ERASED_HERE = 100;
/** More at once would only wait in the queue: the rest follows five minutes later. */
const MOST_HANDED_OVER = 5_000;

type FoundConversation = Versioned<Conversation> & { path: string };

interface ErasureSweep extends Sweep {
  /** The conversations that other workers were told to erase. */
  handedOver: Set<string>;
}

/** Does `work` for each conversation document that a query finds; none has to be read whole to be erased. */
async function forEachConversation(
  sweep: ErasureSweep,
  query: Pick<Query, 'where' | 'orderBy'>,
  work: (conversationId: string, conversation: FoundConversation) => Promise<void>,
): Promise<void> {
  const serve = async (document: StoredDocument) =>
    work(conversationIdFromPath(document), {
      ...decodeAnyConversation(document),
      path: document.path,
    });
  for await (const items of readConversations(sweep, query)) {
    if (sweep.handedOver.size >= MOST_HANDED_OVER) return;
    await forEachItem(sweep, { pass: 'erasures', items, atOnce: ERASED_AT_ONCE }, serve);
  }
}

const inState = (state: Conversation['state']) =>
  ({ where: [{ field: 'state', op: '==', value: state }] }) as const;

async function handOver(sweep: ErasureSweep, conversationId: string): Promise<void> {
  const { dependencies, counts, handedOver } = sweep;
  // Marked a moment ago, and found again among those that are erasing.
  if (handedOver.has(conversationId)) return;
  handedOver.add(conversationId);
  await dependencies.publisher.publish({
    topic: 'compaction',
    data: eraseEvent({ conversationId }),
  });
  counts.erasuresHandedOver += 1;
}

/** From the mark on every guard of chat and worker fails; the rest is deletion. */
async function erase(sweep: ErasureSweep, conversationId: string): Promise<void> {
  const { dependencies, signal, counts } = sweep;
  if (counts.conversationsErased >= MOST_ERASED_HERE) return handOver(sweep, conversationId);
  const result = await eraseConversation(dependencies, conversationId, signal);
  if (result === 'erased') counts.conversationsErased += 1;
  await passWorkerCrashPoint(dependencies, 'sweep-erased');
}

/** `isWanted` is asked again with every reading: an undelete or a new date wins. */
async function markAndErase(
  sweep: ErasureSweep,
  conversationId: string,
  isWanted: (conversation: Conversation, now: Date) => boolean,
): Promise<void> {
  const now = sweep.dependencies.clock.now();
  const marked = await markErasing(sweep.dependencies, conversationId, (conversation) =>
    isWanted(conversation, now),
  );
  if (marked !== 'erasing') return;
  await passWorkerCrashPoint(sweep.dependencies, 'sweep-marked');
  await erase(sweep, conversationId);
}

const isForkGivenUp = ({ state, createTime }: Conversation, now: Date) =>
  state === 'forking' && now.getTime() - createTime.getTime() >= FORK_GIVEN_UP_AFTER_MS;

const isPurgeDue = ({ state, purgeTime }: Conversation, now: Date) =>
  state === 'deleted' && purgeTime !== undefined && purgeTime < now;

const isExpired = ({ state, expireTime }: Conversation, now: Date) =>
  (state === 'live' || state === 'deleted') && expireTime !== undefined && expireTime < now;

/** The tombstone has done its work: no replay and no late message comes after thirty days. */
async function dropTombstone(
  { dependencies, counts }: Sweep,
  conversation: FoundConversation,
): Promise<void> {
  const { path, updateTime } = conversation;
  await dependencies.store.commit([{ op: 'delete', path, guard: { updateTime } }]);
  counts.tombstonesDropped += 1;
}

async function expire(
  sweep: ErasureSweep,
  conversationId: string,
  conversation: FoundConversation,
): Promise<void> {
  switch (conversation.value.state) {
    case 'erased':
      return dropTombstone(sweep, conversation);
    case 'live':
    case 'deleted':
      return markAndErase(sweep, conversationId, isExpired);
    // Found by their state.
    case 'forking':
    case 'erasing':
      return undefined;
  }
}

/**
 * Finishes what erases: turns whose content may still stand elsewhere, what has expired or was deleted
 * long ago, forks without a maker, and every conversation that is marked as erasing.
 */
export async function sweepErasures(all: Sweep): Promise<void> {
  const sweep: ErasureSweep = { ...all, handedOver: new Set() };
  const now = sweep.dependencies.clock.now();
  const leftBefore = new Date(now.getTime() - ERASURE_LEFT_AFTER_MS);
  const turnsErased = earlierThan('pendingErasure.since', leftBefore);
  await forEachConversation(sweep, turnsErased, async (conversationId, { value }) => {
    if (value.state !== 'live' && value.state !== 'deleted') return;
    await finishErasure(sweep.dependencies, conversationId);
    sweep.counts.erasuresFinished += 1;
  });
  // Before those that are erasing already: what is marked here and does not end is met again there.
  await forEachConversation(sweep, inState('forking'), async (conversationId, { value }) => {
    if (isForkGivenUp(value, now)) await markAndErase(sweep, conversationId, isForkGivenUp);
  });
  await forEachConversation(
    sweep,
    earlierThan('purgeTime', now),
    async (conversationId, { value }) => {
      // What is erasing already is met below.
      if (isPurgeDue(value, now)) await markAndErase(sweep, conversationId, isPurgeDue);
    },
  );
  await forEachConversation(sweep, earlierThan('expireTime', now), (conversationId, conversation) =>
    expire(sweep, conversationId, conversation),
  );
  await forEachConversation(sweep, inState('erasing'), (conversationId) =>
    erase(sweep, conversationId),
  );
}
