import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import {
  decodeConversation,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { decodeHistory, type History } from '#shared/conversation/documents/history.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import {
  chunksCollection,
  compactionJobPath,
  conversationPath,
} from '#shared/conversation/documents/paths.ts';
import {
  decodeMessageGuard,
  readTurnDocument,
  type Turn,
} from '#shared/conversation/documents/turn.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { readableFields } from '#test/support/stores/readable-fields.ts';

/** A conversation as it stands in the store; `undefined`: there is none. */
export interface Documents {
  conversation: Conversation | undefined;
  job: CompactionJob | undefined;
  turns: Turn[];
  histories: History[];
  /** Message id → seq. */
  messages: Map<string, number>;
}

/** More than any program writes. */
const LIMIT = 200;

const collections = ['turns', 'histories', 'messages', 'jobs', 'public', 'recall'];

/** Everything below a conversation that has turns up to `lastSeq` at most: path and content as text. */
export async function readTexts(
  store: DocumentStore,
  { conversationId, lastSeq }: { conversationId: string; lastSeq: number },
): Promise<string[]> {
  const chunks = Array.from({ length: lastSeq }, (_, i) => chunksCollection(conversationId, i + 1));
  const all = [
    ...collections.map((name) => `${conversationPath(conversationId)}/${name}`),
    ...chunks,
  ];
  const found = await Promise.all(
    all.map((collection) => store.query({ collection, limit: LIMIT })),
  );
  return found.flat().map(({ path, fields }) => `${path} ${readableFields(fields)}`);
}

/** Reads all of it, straight from the collections and not as the service does. */
export async function readDocuments(
  store: DocumentStore,
  conversationId: string,
): Promise<Documents> {
  const root = conversationPath(conversationId);
  const all = (name: string) => store.query({ collection: `${root}/${name}`, limit: LIMIT });
  const [[conversation, job], turns, histories, messages] = await Promise.all([
    store.get([root, compactionJobPath(conversationId)]),
    all('turns'),
    all('histories'),
    all('messages'),
  ]);
  const seqs = turns.map((turn) => readTurnDocument(conversationId, turn).value.seq);
  return {
    conversation: conversation && decodeConversation(conversation).value,
    job: job && decodeJob(job).value,
    turns: (await readTurns(store, conversationId, seqs)).map(({ value }) => value),
    histories: histories.map(decodeHistory),
    messages: new Map(
      messages.map((message) => [
        message.path.slice(message.path.lastIndexOf('/') + 1),
        decodeMessageGuard(message).seq,
      ]),
    ),
  };
}
