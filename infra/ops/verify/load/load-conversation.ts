import {
  decodeAnyConversation,
  type Conversation,
  type Versioned,
} from '#shared/conversation/documents/conversation.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { messageGuardSchema } from '#shared/conversation/documents/message-guard.ts';
import {
  compactionJobPath,
  conversationPath,
  messageGuardsCollection,
} from '#shared/conversation/documents/paths.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import { lastSegment, readPages, type ReadStore } from '#infra/ops/pages.ts';
import { loadContext, type ContextReading } from './load-context.ts';
import { loadIndex } from './load-index.ts';
import { loadHistories, type HistoryReading } from './load-histories.ts';
import { isUnreadable, loadTurns, refuseProblems, toUnreadable } from './load-turns.ts';
import type { Loaded, LoadedContext, StoredGuard, Unreadable } from './loaded.ts';

const GUARDS_PER_PAGE = 300;
/** What is told of what is left below a conversation document that is erased or not there. */
const REMAINS_MAX = 10;

/** What a conversation may have below its conversation document, but for what stands below turns and streams. */
const COLLECTIONS = [
  'turns',
  'messages',
  'histories',
  'jobs',
  'blobs',
  'ratings',
  'public',
  'recall',
] as const;

export interface Reading extends ContextReading, Omit<HistoryReading, 'signer'> {
  /** Whether the keys are those of the deployment: else no signature is looked at. */
  hasKeys: boolean;
  /** Names of all collections below a document, where the database can tell; default: the known ones. */
  collectionsBelow?: ((path: string) => Promise<readonly string[]>) | undefined;
  now: () => Date;
}

/** What a document says, or why it cannot be read. */
function readable<T>(
  document: StoredDocument | undefined,
  decode: (document: StoredDocument) => Pick<Versioned<T>, 'value' | 'problems'>,
  input: Unreadable['of'],
): { value: T | undefined; unreadable: Unreadable[] } {
  try {
    const read = document && decode(document);
    refuseProblems(read?.problems);
    return { value: read?.value, unreadable: [] };
  } catch (error) {
    return { value: undefined, unreadable: [toUnreadable(document?.path ?? '', input, error)] };
  }
}

async function loadGuards(
  store: ReadStore,
  conversationId: string,
): Promise<{ guards: StoredGuard[]; unreadable: Unreadable[] }> {
  const guards: StoredGuard[] = [];
  const unreadable: Unreadable[] = [];
  const query = { collection: messageGuardsCollection(conversationId), limit: GUARDS_PER_PAGE };
  for await (const page of readPages(store, query))
    for (const document of page) {
      const { path } = document;
      const decode = (found: StoredDocument) => ({ value: messageGuardSchema.parse(found.fields) });
      const read = readable(document, decode, 'guard');
      unreadable.push(...read.unreadable);
      if (read.value) guards.push({ path, messageId: lastSegment(path), ...read.value });
    }
  return { guards, unreadable };
}

/** The first few documents below a conversation document. */
async function loadRemains(
  { store, collectionsBelow }: Reading,
  conversationId: string,
): Promise<string[]> {
  const path = conversationPath(conversationId);
  const names = (await collectionsBelow?.(path)) ?? COLLECTIONS;
  const remains: string[] = [];
  for (const name of names) {
    const collection = `${path}/${name}`;
    const found = await store.query({ collection, limit: REMAINS_MAX });
    remains.push(...found.map((document) => document.path));
    // Chunks stand below documents that are none.
    if (found.length === 0 && collectionsBelow)
      remains.push(`${collection} (what stands below it)`);
  }
  return remains.slice(0, REMAINS_MAX);
}

const nothing = {
  job: undefined,
  turns: [],
  guards: [],
  histories: [],
  index: [],
  context: undefined,
  remains: [],
} satisfies Partial<Loaded>;

/** The context of a live conversation; undefined where a document of it cannot be read. */
async function contextOf(
  reading: Reading,
  conversationId: string,
  conversation: Conversation,
): Promise<LoadedContext | undefined> {
  if (conversation.state !== 'live') return undefined;
  try {
    return await loadContext(reading, conversationId, conversation);
  } catch (error) {
    // What cannot be read is told where it stands.
    if (isUnreadable(error)) return undefined;
    throw error;
  }
}

/** A conversation with all its documents, read once. Throws StoreUnavailableError. */
export async function loadConversation(reading: Reading, conversationId: string): Promise<Loaded> {
  const { store, hasKeys, signer } = reading;
  const [conversationDocument, jobDocument] = await store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  const conversation = readable<Conversation>(conversationDocument, decodeAnyConversation, 'head');
  const base = {
    conversationId,
    now: reading.now(),
    conversation: conversation.value,
    conversationFields: Object.keys(conversationDocument?.fields ?? {}),
  };
  const isThere = conversation.value !== undefined && conversation.value.state !== 'erased';
  if (!isThere) {
    const isReadable = conversation.unreadable.length === 0;
    const remains = isReadable ? await loadRemains(reading, conversationId) : [];
    return { ...base, ...nothing, unreadable: conversation.unreadable, remains };
  }
  const job = readable<CompactionJob>(jobDocument, decodeJob, 'job');
  const historyReading = { ...reading, signer: hasKeys ? signer : undefined };
  const [turns, guards, histories, index, context] = await Promise.all([
    loadTurns(store, conversationId),
    loadGuards(store, conversationId),
    loadHistories(historyReading, { conversationId, conversation: conversation.value ?? {} }),
    loadIndex(store, conversationId, conversation.value?.indexedThrough ?? 0),
    conversation.value && contextOf(reading, conversationId, conversation.value),
  ]);
  const unreadable = [conversation, job, turns, guards, histories].flatMap(
    (read) => read.unreadable,
  );
  return {
    ...base,
    job: job.value,
    turns: turns.turns,
    guards: guards.guards,
    histories: histories.histories,
    unreadable,
    index,
    context,
    remains: [],
  };
}
