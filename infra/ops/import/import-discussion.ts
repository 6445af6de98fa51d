import { FORK_TURNS_MAX } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { firstConversation } from '#functions/chat/turns/start/read-start.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { retry } from '#functions/lib/retry.ts';
import { readAnyConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { turnPath } from '#shared/conversation/documents/paths.ts';
import { readTurnDocument } from '#shared/conversation/documents/turn.ts';
import { InvalidWriteError, mayBeCommitted } from '#shared/errors.ts';
import { inBatches } from '#shared/store/many-documents.ts';
import { readDiscussion, type SourceDatabase } from './discussions.ts';
import { decideImport, type LeftReason } from './import-decision.ts';
import { importWrites } from './import-writes.ts';
import { importedId, importedTurn, type ImportedTurn } from './imported-turn.ts';
import type { SkippedReason, SourceFields, SourceMessage } from './source-message.ts';

/** Turns of a conversation at most, as of a fork: each message reads those that no compaction has replaced. */
const MESSAGES_MAX = FORK_TURNS_MAX;
/** How often a discussion is tried whose conversation changes, or whose store does not answer. */
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
  kind: 'created' | 'extended' | 'unchanged' | 'empty' | LeftReason;
  /** Turns that were written, or would be. */
  turns: number;
  skipped: ReadonlyMap<string, SkippedReason>;
}

type Stored = Versioned<Conversation>;

async function lastMessageId({ store }: Importing['chat'], conversationId: string, seq: number) {
  const [turn] = seq > 0 ? await store.get([turnPath(conversationId, seq)]) : [];
  return turn && readTurnDocument(conversationId, turn).value.messageId;
}

async function* importedTurns(
  { sha256, clock }: Importing['chat'],
  target: { conversationId: string; conversation: Conversation; first: number },
  messages: readonly SourceMessage[],
): AsyncGenerator<ImportedTurn> {
  const { conversationId, conversation, first } = target;
  const counting = meterCounting(conversation);
  for (const [index, message] of messages.entries()) {
    const place = { conversationId, seq: first + index };
    yield await Promise.resolve(
      importedTurn({ sha256, counting, now: clock.now() }, place, message),
    );
  }
}

/** Writes turns from `first` on. Each batch stands under the update time of the conversation, which counts its turns. */
async function writeTurns(
  { chat }: Importing,
  target: Wanted & { conversationId: string; stored: Stored | undefined; first: number },
  messages: readonly SourceMessage[],
): Promise<void> {
  const { conversationId, collection, ownerUid, stored, first } = target;
  const caller = { uid: ownerUid, tier: 'signedIn' } as const;
  const create = stored ? stored.value : firstConversation(chat, caller, 0);
  const turns = importedTurns(chat, { conversationId, conversation: create, first }, messages);
  let conversation: Stored | undefined = stored;
  for await (const { groups, isLast } of inBatches(turns)) {
    const batch = { conversationId, collection, turns: groups, isLast };
    await chat.store.commit(importWrites({ ...batch, conversation: conversation ?? { create } }));
    if (!isLast) conversation = await readAnyConversation(chat.store, conversationId);
  }
}

async function importOnce(importing: Importing, wanted: Wanted): Promise<Imported> {
  const { chat, source, names, isMeant } = importing;
  const { collection, ownerUid } = wanted;
  const reading = { names, mostMessages: MESSAGES_MAX };
  const { messages, skipped } = await readDiscussion(source, collection, reading);
  if (messages.length === 0) return { kind: 'empty', turns: 0, skipped };
  if (messages.length > MESSAGES_MAX) return { kind: 'too-long', turns: 0, skipped };
  const conversationId = importedId(chat.sha256, collection);
  const stored = await readAnyConversation(chat.store, conversationId);
  const decision = decideImport(
    { ownerUid, messageIds: messages.map(({ path }) => importedId(chat.sha256, path)) },
    stored && {
      conversation: stored.value,
      lastMessageId: await lastMessageId(chat, conversationId, stored.value.lastSeq),
    },
  );
  if (typeof decision === 'string') return { kind: decision, turns: 0, skipped };
  const { first } = decision;
  const missing = messages.slice(first - 1);
  if (isMeant) await writeTurns(importing, { ...wanted, conversationId, stored, first }, missing);
  return { kind: stored ? 'extended' : 'created', turns: missing.length, skipped };
}

/**
 * Makes a conversation of a discussion, or completes the one that an earlier import has begun. Where the reply of a
 * commit was lost, or somebody else wrote, it reads and decides again. Throws StoreUnavailableError, GuardLostError.
 */
export async function importDiscussion(importing: Importing, wanted: Wanted): Promise<Imported> {
  try {
    return await retry(() => importOnce(importing, wanted), {
      mostTries: TRIES,
      isRetryable: mayBeCommitted,
      beforeNext: (tries) => importing.chat.clock.wait(RETRY_MS * tries),
    });
  } catch (error) {
    if (!(error instanceof InvalidWriteError)) throw error;
    return { kind: 'too-large', turns: 0, skipped: new Map() };
  }
}
