import type { DocumentFields, StoredDocument, Write } from '#shared/ports/ports.ts';
import type { Conversation } from './conversation.ts';
import {
  erasedTurnsSchema,
  type LastAnswer,
  lastAnswerSchema,
  lastMessageSchema,
} from './last-message.ts';
import { inboxPath } from './paths.ts';
import { readWhole, refuseNewer } from './read-document.ts';
import { z } from 'zod';

/*
 * The inbox of a user has one document for each conversation: what a list shows of it. All but what was read, and the
 * time of the write, follows from the conversation document (`inboxFields`), and is written in the batches that change
 * that one.
 */

/** How long a device that was away is told that a conversation is gone, in milliseconds. */
const GONE_MS = 30 * 24 * 60 * 60_000;

const inboxStateSchema = z.enum(['idle', 'running', 'waiting', 'failed']);

/** `users/{uid}/inbox/{c}`. Its owner may read it through the security rules. */
export const inboxEntrySchema = z.object({
  schemaVersion: z.literal(1),
  /** `gone`: nothing of the conversation is left. */
  list: z.enum(['active', 'archived', 'deleted', 'gone']),
  title: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  pinned: z.boolean(),
  /** `waiting`: for the app, which has to answer calls. `failed`: the last turn did. */
  state: inboxStateSchema,
  lastSeq: z.number().int().nonnegative(),
  asked: lastMessageSchema.optional(),
  answered: lastAnswerSchema.optional(),
  erasedTurns: erasedTurnsSchema.optional(),
  createTime: z.date(),
  /** Of the last question, else of the creation. The list is in this order. */
  activeTime: z.date(),
  deleteTime: z.date().optional(),
  purgeTime: z.date().optional(),
  /** The answers up to this one were read; only grows. */
  readSeq: z.number().int().nonnegative(),
  /** Whether an answer has come that was not read: after `readSeq`, or again for a turn up to it. */
  unread: z.boolean(),
  /** When it was written, by the clock of the writer: who follows the inbox asks for those from a time on. */
  changeTime: z.date(),
  /** Of one that is gone: when the document goes, too. */
  expireTime: z.date().optional(),
});
export type InboxEntry = z.infer<typeof inboxEntrySchema>;

function stateOf({ open, answered }: Conversation): InboxEntry['state'] {
  if (open) return open.isWaiting ? 'waiting' : 'running';
  return answered?.state === 'failed' ? 'failed' : 'idle';
}

function listOf({ state, archived }: Conversation): InboxEntry['list'] {
  if (state === 'deleted') return 'deleted';
  return archived ? 'archived' : 'active';
}

/** What an entry says that follows from the conversation document; `undefined`: it does not have the field. */
export const inboxFields = (conversation: Conversation) => {
  const { asked, answered, createTime, erasedTurns } = conversation;
  return {
    schemaVersion: 1,
    list: listOf(conversation),
    title: conversation.title,
    metadata: conversation.metadata,
    pinned: conversation.pinned === true,
    state: stateOf(conversation),
    lastSeq: conversation.lastSeq,
    asked: asked && { ...asked },
    answered: answered && { ...answered },
    erasedTurns: erasedTurns && { ...erasedTurns },
    createTime,
    activeTime: asked && asked.time > createTime ? asked.time : createTime,
    deleteTime: conversation.deleteTime,
    purgeTime: conversation.purgeTime,
  } satisfies Omit<InboxEntry, 'readSeq' | 'unread' | 'changeTime'>;
};

const merge = (path: string, fields: DocumentFields): Write => ({
  op: 'merge',
  path,
  fields,
  remove: Object.keys(fields).filter((name) => fields[name] === undefined),
});

/** What was read of a conversation. */
type Read = Pick<InboxEntry, 'readSeq' | 'unread'>;

/**
 * The entry as the conversation document is after a batch, to be written in that batch. What was read stays, but for what
 * `read` has of it. Nobody lists a fork before it is done.
 */
export function inboxWrites(
  conversationId: string,
  conversation: Conversation,
  { now, read }: { now: Date; read?: Partial<Read> | undefined },
): Write[] {
  const { state, ownerUid } = conversation;
  if ((state !== 'live' && state !== 'deleted') || ownerUid === '') return [];
  const fields = { ...inboxFields(conversation), ...read, changeTime: now };
  return [merge(inboxPath(ownerUid, conversationId), fields)];
}

/** The entry of a new conversation, or of one that nobody has an entry of: nothing is unread. */
export const firstInboxWrites = (
  conversationId: string,
  conversation: Conversation,
  now: Date,
): Write[] => {
  const read = { readSeq: conversation.answered?.seq ?? 0, unread: false };
  return inboxWrites(conversationId, conversation, { now, read });
};

/**
 * The entry after an answer, from the answer alone: its batch need not know what the conversation document is by now.
 * `newest`: this answer, or that of a later turn, which then stays in the entry.
 */
export const answeredInboxWrite = (
  { ownerUid, conversationId }: { ownerUid: string; conversationId: string },
  { answered, newest, now }: { answered: LastAnswer; newest: LastAnswer; now: Date },
): Write =>
  merge(inboxPath(ownerUid, conversationId), {
    ...(newest === answered && { answered: { ...answered } }),
    state: newest.state === 'failed' ? 'failed' : 'idle',
    unread: true,
    changeTime: now,
  });

/** The entry of a turn that waits for the app. */
export const waitingInboxWrite = (
  { ownerUid, conversationId }: { ownerUid: string; conversationId: string },
  now: Date,
): Write => merge(inboxPath(ownerUid, conversationId), { state: 'waiting', changeTime: now });

/** Nothing of the conversation is left, which the owner's devices are told for a while. */
export function goneInboxWrites(
  { ownerUid, conversationId }: { ownerUid: string; conversationId: string },
  now: Date,
): Write[] {
  if (ownerUid === '') return [];
  const expireTime = new Date(now.getTime() + GONE_MS);
  const fields = { schemaVersion: 1, list: 'gone', changeTime: now, expireTime };
  const remove = Object.keys(inboxEntrySchema.shape).filter((name) => !(name in fields));
  return [{ op: 'merge', path: inboxPath(ownerUid, conversationId), fields, remove }];
}

const blank: InboxEntry = {
  schemaVersion: 1,
  list: 'gone',
  pinned: false,
  state: 'idle',
  lastSeq: 0,
  createTime: new Date(0),
  activeTime: new Date(0),
  changeTime: new Date(0),
  readSeq: 0,
  unread: false,
};

/** Reads an entry; what of it cannot be read is left out. Throws NewerDocumentError. */
export function decodeInboxEntry(document: Pick<StoredDocument, 'path' | 'fields'>): InboxEntry {
  refuseNewer(document);
  return readWhole<InboxEntry>(inboxEntrySchema, document.fields, blank).value;
}

/** Answers that were not read; one that came again for a turn which was read is one. */
export const unreadCount = ({ unread, answered, readSeq }: InboxEntry): number =>
  unread ? Math.max(1, (answered?.seq ?? 0) - readSeq) : 0;
