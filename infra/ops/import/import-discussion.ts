import {
  pickSweepShard,
  type Conversation,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import {
  newTurnWrites,
  type NewTurn,
  type TurnEnd,
  turnEndWrites,
} from '#shared/conversation/writes/turn-writes.ts';
import { titleIn } from '#shared/conversation/title.ts';
import { stableUuid } from '#shared/lib/uuid.ts';
import { FORK_TURNS_MAX } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { firstConversation, bodyHash } from '#functions/chat/turns/start/read-start.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { retry } from '#functions/lib/retry.ts';
import { readAnyConversation } from '#shared/conversation/context/read-conversation.ts';
import {
  conversationPath,
  messageGuardPath,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import { firstInboxWrites } from '#shared/conversation/documents/inbox.ts';
import { lastAnswer, lastQuestion } from '#shared/conversation/documents/last-message.ts';
import { readTurnDocument } from '#shared/conversation/documents/turn.ts';
import { InvalidWriteError, mayBeCommitted } from '#shared/lib/errors.ts';
import { inBatches } from '#shared/store/many-documents.ts';
import {
  readDiscussion,
  type SourceDatabase,
  type SkippedReason,
  type SourceFields,
  type SourceMessage,
} from './source.ts';
import type { Content } from '#shared/models/content.ts';
import type { Sha256, Write } from '#shared/ports/ports.ts';
import { cutHead } from '#shared/text/cut.ts';
import { estimateContentTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { METADATA_VALUE_MAX_CHARACTERS } from '#shared/lib/limits.ts';

/** Why a discussion is left as it is. */
export const leftReasons = {
  continued: 'written in since it was imported',
  deleted: 'deleted in Recap since it was imported',
  'other-owner': 'belongs to another user',
  'source-changed': 'has lost, gained or reordered documents between those that were imported',
  'too-long': 'has more documents than one conversation takes',
  'too-large': 'has a document that is too large to be stored',
} as const;
export type LeftReason = keyof typeof leftReasons;

/**
 * A conversation that an import has begun and not ended waits in the bin, where nobody can write in it; it has no date
 * of its own to be purged at.
 */
const isBeingImported = ({ state, purgeTime }: Conversation): boolean =>
  state === 'deleted' && purgeTime === undefined;

/**
 * What an import does with a discussion: the number of the first turn that is missing, or why nothing is written.
 * `stored` is the conversation under its id, and the message id of its last turn. Nothing is written behind a turn that
 * the import did not write. Pure.
 */
function decideImport(
  { ownerUid, messageIds }: { ownerUid: string; messageIds: readonly string[] },
  stored: { conversation: Conversation; lastMessageId: string | undefined } | undefined,
): { first: number } | 'unchanged' | LeftReason {
  if (!stored) return { first: 1 };
  const { conversation, lastMessageId } = stored;
  const { state, lastSeq } = conversation;
  if (state === 'erasing' || state === 'erased') return 'deleted';
  if (conversation.ownerUid !== ownerUid) return 'other-owner';
  if (state === 'deleted' && !isBeingImported(conversation)) return 'deleted';
  if (lastSeq > 0 && messageIds[lastSeq - 1] !== lastMessageId)
    return messageIds.includes(lastMessageId ?? '') ? 'source-changed' : 'continued';
  const isWhole = lastSeq === messageIds.length && !isBeingImported(conversation);
  return isWhole ? 'unchanged' : { first: lastSeq + 1 };
}

const EXTENSION = 'firestore-genai-chatbot';
const ERROR_CHARACTERS = 500;

/** The id of a conversation or a message: always the same for the path of its collection or document. */
export const importedId = (sha256: Sha256, path: string): string =>
  stableUuid(sha256, [EXTENSION, path]);

/** A turn of the extension as Recap stores it. */
interface ImportedTurn {
  seq: number;
  writes: readonly Write[];
  /** What the conversation document says of it while it is the last one. */
  newest: Required<Pick<Conversation, 'asked' | 'answered'>>;
  /** Estimated, of what is in the context. */
  tokens: number;
  createTime: Date;
  finishTime: Date;
  isAnswered: boolean;
  /** What the conversation could be called after this message. */
  title: string | undefined;
}

const failed = (text: string) =>
  ({
    status: 'UNAVAILABLE',
    reason: text === '' ? 'MODEL_EMPTY_ANSWER' : 'MODEL_REFUSED_REQUEST',
    message: cutHead(text, ERROR_CHARACTERS) || 'The model gave no answer.',
    retryable: false,
  }) as const;

/** A turn that was answered elsewhere. */
interface EndedTurn {
  begun: NewTurn;
  ended: Pick<
    TurnEnd,
    'state' | 'contents' | 'answerTokens' | 'inContext' | 'finishReason' | 'error' | 'now'
  >;
}

/**
 * The documents that a turn leaves when it has begun and ended: itself, the guard of its message, and overflow pieces.
 * The writes of the conversation document are the caller's.
 */
function endedTurnWrites({ begun, ended }: EndedTurn): Write[] {
  const { conversationId, seq, messageId, userTokens } = begun;
  const [start, ...userPieces] = newTurnWrites(begun, 'running');
  const [end, ...answerPieces] = turnEndWrites({
    ...ended,
    conversationId,
    seq,
    userTokens,
    attempt: 1,
    turnUpdateTime: '',
  });
  if (start?.op !== 'create' || end?.op !== 'update')
    throw new Error(
      `turn ${seq} of ${conversationId} is not begun by a create and ended by an update`,
    );
  return [
    { ...start, fields: { ...start.fields, ...end.fields } },
    {
      op: 'create',
      path: messageGuardPath(conversationId, messageId),
      fields: { seq, bodyHash: begun.bodyHash },
    },
    ...userPieces,
    ...answerPieces,
  ];
}

/** `now` stands in for times that the source does not have. */
function importedTurn(
  { sha256, counting, now }: { sha256: Sha256; counting: TokenCounting; now: Date },
  place: { conversationId: string; seq: number },
  { path, prompt, answer, ...times }: SourceMessage,
): ImportedTurn {
  const createTime = times.createTime ?? times.finishTime ?? now;
  const finishTime = new Date(Math.max(createTime.getTime(), times.finishTime?.getTime() ?? 0));
  const user: Content = { role: 'user', parts: [{ text: prompt }] };
  const messageId = importedId(sha256, path);
  const isAnswered = 'text' in answer;
  const contents: Content[] = isAnswered ? [{ role: 'model', parts: [{ text: answer.text }] }] : [];
  const userTokens = estimateContentTokens(user, counting);
  const answerTokens = contents.reduce((sum, one) => sum + estimateContentTokens(one, counting), 0);
  const writes = endedTurnWrites({
    begun: {
      ...place,
      messageId,
      bodyHash: bodyHash(sha256, { message: { id: messageId, parts: user.parts } }),
      user,
      userTokens,
      lease: { producer: '', leaseUntil: finishTime },
      now: createTime,
    },
    ended: {
      contents,
      answerTokens,
      inContext: isAnswered,
      now: finishTime,
      ...(isAnswered
        ? { state: 'done', finishReason: 'STOP' }
        : { state: 'failed', error: failed(answer.failure) }),
    },
  });
  const tokens = isAnswered ? userTokens + answerTokens : 0;
  const newest = {
    asked: lastQuestion(place.seq, user, createTime),
    answered: lastAnswer(
      { seq: place.seq, state: isAnswered ? 'done' : 'failed' },
      contents,
      finishTime,
    ),
  };
  const title = titleIn(prompt.split('\n', 1)[0] ?? '');
  return { seq: place.seq, writes, newest, tokens, createTime, finishTime, isAnswered, title };
}

/** Some turns of a discussion, the next of its conversation. */
interface ImportBatch {
  conversationId: string;
  collection: string;
  turns: readonly ImportedTurn[];
  isLast: boolean;
  now: Date;
  /** As it was read or written last; or the document to create. */
  conversation: Versioned<Conversation> | { create: Conversation };
}

const sumTokens = (turns: readonly ImportedTurn[]) =>
  turns.reduce((sum, { tokens }) => sum + tokens, 0);

/** Where it came from, for the app; a path that is longer than metadata may be is left out. */
const origin = (collection: string): Record<string, string> =>
  collection.length <= METADATA_VALUE_MAX_CHARACTERS ? { importedFrom: collection } : {};

function createdFields(
  { conversationId, collection, turns, isLast }: ImportBatch,
  create: Conversation,
): Conversation {
  const [first] = turns;
  return {
    ...create,
    ...(first && { createTime: first.createTime }),
    ...(first?.title !== undefined && { title: first.title, autoTitle: { throughSeq: 1 } }),
    state: isLast ? 'live' : 'deleted',
    metadata: origin(collection),
    sweepShard: pickSweepShard(conversationId),
    // An estimate that is about no turn: whether to compact is decided when the next message has been answered.
    context: { ...create.context, tokens: sumTokens(turns) },
  };
}

/**
 * One batch of an import: turns, and the conversation document that counts them. All but the last batch of a new
 * conversation leave it in the bin, where nobody can write in it.
 */
function importWrites(batch: ImportBatch): Write[] {
  const { now, conversationId, turns, isLast, conversation } = batch;
  const path = conversationPath(conversationId);
  const last = turns.at(-1);
  const progress = last && { lastSeq: last.seq, updateTime: last.finishTime, ...last.newest };
  const below = turns.flatMap(({ writes }) => writes);
  // What came from elsewhere was read there.
  const listed = (after: Conversation) => firstInboxWrites(conversationId, after, now);
  if ('create' in conversation) {
    const fields = { ...createdFields(batch, conversation.create), ...progress };
    return [{ op: 'create', path, fields }, ...listed(fields), ...below];
  }
  const { value, updateTime } = conversation;
  const fields = {
    ...progress,
    ...(isLast && isBeingImported(value) && { state: 'live' as const }),
  };
  const context = { 'context.tokens': value.context.tokens + sumTokens(turns) };
  return [
    { op: 'update', path, fields: { ...fields, ...context }, guard: { updateTime } },
    ...listed({ ...value, ...fields }),
    ...below,
  ];
}

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

async function readLastMessageId(
  { store }: Importing['chat'],
  conversationId: string,
  seq: number,
) {
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
    const batch = { conversationId, collection, turns: groups, isLast, now: chat.clock.now() };
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
      lastMessageId: await readLastMessageId(chat, conversationId, stored.value.lastSeq),
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
