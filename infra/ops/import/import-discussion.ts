import { FORK_TURNS_MAX } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { firstConversation } from '#functions/chat/turns/start/first-conversation.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { retry } from '#functions/lib/retry.ts';
import { readAnyConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { readTurnDocument } from '#shared/conversation/documents/turn.ts';
import { InvalidWriteError, mayBeCommitted } from '#shared/errors.ts';
import { inBatches } from '#shared/store/write-batches.ts';
import type { SourceDatabase } from './find-discussions.ts';
import { decideImport, type ImportDecision, type LeftReason } from './import-decision.ts';
import { importWrites } from './import-writes.ts';
import { importedId, importedTurn, type ImportedTurn } from './imported-turn.ts';
import { DiscussionChangedError, readDiscussion, type ReadDiscussion } from './read-discussion.ts';
import type { SkippedReason, SourceFields } from './source-message.ts';

/** Turns of a conversation at most, as of a fork: each message reads those that no compaction has replaced. */
const MESSAGES_MAX = FORK_TURNS_MAX;
/** How often a discussion is tried whose conversation or source changes, or whose store does not answer. */
const TRIES = 6;
const RETRY_MS = 200;

interface Importing {
  chat: Pick<ChatDependencies, 'store' | 'config' | 'sha256' | 'clock' | 'randomness'>;
  source: SourceDatabase;
  names: SourceFields;
  /** Without it nothing is written, and what would be is told. */
  isMeant: boolean;
}

interface Wanted {
  collection: string;
  ownerUid: string;
}

/** What became of a discussion. */
export interface Imported {
  conversationId: string;
  kind: 'created' | 'extended' | 'unchanged' | 'empty' | 'left';
  reason?: LeftReason;
  /** Turns that were written, or would be. */
  turns: number;
  skipped: ReadonlyMap<string, SkippedReason>;
}

type Stored = Versioned<Conversation>;

async function readStored({ store }: Importing['chat'], conversationId: string) {
  const conversation = await readAnyConversation(store, conversationId);
  if (!conversation) return undefined;
  const { lastSeq } = conversation.value;
  const [turn] = lastSeq > 0 ? await store.get([turnPath(conversationId, lastSeq)]) : [];
  return {
    conversation,
    lastMessageId: turn && readTurnDocument(conversationId, turn).value.messageId,
  };
}

async function* importedTurns(
  { chat }: Importing,
  target: { conversationId: string; conversation: Conversation; first: number },
  read: ReadDiscussion,
): AsyncGenerator<ImportedTurn> {
  const { conversationId, conversation, first } = target;
  const { sha256, clock } = chat;
  const counting = meterCounting(conversation);
  let seq = first;
  for await (const message of read.messages(first)) {
    yield importedTurn({ sha256, counting, now: clock.now() }, { conversationId, seq }, message);
    seq += 1;
  }
}

/** Writes the turns from `first` on. Each batch stands under the update time of the conversation, which counts its turns. */
async function writeTurns(
  importing: Importing,
  target: Wanted & { conversationId: string; stored: Stored | undefined; first: number },
  read: ReadDiscussion,
): Promise<void> {
  const { chat } = importing;
  const { conversationId, collection, ownerUid, stored, first } = target;
  const caller = { uid: ownerUid, tier: 'signedIn' } as const;
  const create = stored ? stored.value : firstConversation(chat, caller, 0);
  const turns = importedTurns(importing, { conversationId, conversation: create, first }, read);
  let conversation: Stored | undefined = stored;
  for await (const { groups, isLast } of inBatches(turns)) {
    const writes = importWrites({
      conversationId,
      collection,
      turns: groups,
      isLast,
      conversation: conversation ?? { create },
    });
    await chat.store.commit(writes);
    if (!isLast) conversation = await readAnyConversation(chat.store, conversationId);
  }
}

const kinds = { create: 'created', append: 'extended', unchanged: 'unchanged' } as const;

async function importOnce(importing: Importing, wanted: Wanted): Promise<Imported> {
  const { chat, source, names, isMeant } = importing;
  const { collection, ownerUid } = wanted;
  const conversationId = importedId(chat.sha256, collection);
  const read = await readDiscussion(source, collection, { names, mostDocuments: MESSAGES_MAX });
  const { places, skipped } = read;
  const told = { conversationId, turns: 0, skipped };
  if (places.length === 0) return { ...told, kind: 'empty' };
  if (places.length > MESSAGES_MAX) return { ...told, kind: 'left', reason: 'too-long' };
  const stored = await readStored(chat, conversationId);
  const messageIds = places.map(({ path }) => importedId(chat.sha256, path));
  const decision: ImportDecision = decideImport(
    { ownerUid, messageIds },
    stored && { conversation: stored.conversation.value, lastMessageId: stored.lastMessageId },
  );
  if (decision.kind === 'leave') return { ...told, kind: 'left', reason: decision.reason };
  if (decision.kind === 'unchanged') return { ...told, kind: 'unchanged' };
  const first = decision.kind === 'append' ? decision.first : 1;
  const target = { ...wanted, conversationId, stored: stored?.conversation, first };
  if (isMeant) await writeTurns(importing, target, read);
  return { ...told, kind: kinds[decision.kind], turns: places.length - first + 1 };
}

/**
 * Makes a conversation of a discussion, or completes the one that an earlier import has begun. Where the reply of a
 * commit was lost, or somebody else wrote, it reads and decides again. Throws StoreUnavailableError, GuardLostError.
 */
export async function importDiscussion(importing: Importing, wanted: Wanted): Promise<Imported> {
  try {
    return await retry(() => importOnce(importing, wanted), {
      mostTries: TRIES,
      isRetryable: (error) => mayBeCommitted(error) || error instanceof DiscussionChangedError,
      beforeNext: (tries) => importing.chat.clock.wait(RETRY_MS * tries),
    });
  } catch (error) {
    if (!(error instanceof InvalidWriteError)) throw error;
    const conversationId = importedId(importing.chat.sha256, wanted.collection);
    const left = { kind: 'left', reason: 'too-large' } as const;
    return { ...left, conversationId, turns: 0, skipped: new Map() };
  }
}
