import type { FinishedTurn } from '#functions/chat/turns/live-turn.ts';
import type { Replacing } from '#functions/chat/turns/send/send-request.ts';
import { conversationPath, inboxPath } from '#shared/conversation/documents/paths.ts';
import type { ModelRequest, Write, DocumentStore, StoredDocument } from '#shared/ports/ports.ts';
import type { UserEvent } from '#shared/wire/resources/user-events.ts';
import type { Flow, Process, Interleaving } from './interleaving.ts';

/** A conversation and its entry in the inbox of its owner, as a commit left them. */
export interface ListedState {
  /** How many commits had been applied by then, this one included. */
  afterCommits: number;
  atMs: number;
  uid: string;
  conversationId: string;
  conversation: StoredDocument | undefined;
  entry: StoredDocument | undefined;
}

/** The conversation that a path names: the document itself, or its entry in an inbox, of which it names the owner, too. */
function namedBy(path: string): { conversationId: string; uid?: string | undefined } | undefined {
  const [collection, id = '', below, entryId, ...rest] = path.split('/');
  if (collection === 'conversations' && below === undefined) return { conversationId: id };
  if (collection !== 'users' || below !== 'inbox' || rest.length > 0) return undefined;
  return entryId === undefined ? undefined : { conversationId: entryId, uid: id };
}

/** Reads, after a commit, what it left of the conversations and entries that it wrote. */
export function createListedStates(store: Pick<DocumentStore, 'get'>) {
  /** A tombstone does not say whose the conversation was. */
  const owners = new Map<string, string>();
  return async (
    writes: readonly Write[],
    commit: Pick<ListedState, 'afterCommits' | 'atMs'>,
  ): Promise<ListedState[]> => {
    const named = writes.flatMap(({ path }) => namedBy(path) ?? []);
    const states: ListedState[] = [];
    for (const conversationId of new Set(named.map((each) => each.conversationId))) {
      const [conversation] = await store.get([conversationPath(conversationId)]);
      const inPath = named.find((each) => each.conversationId === conversationId && each.uid);
      const owner = conversation?.fields['ownerUid'] || inPath?.uid;
      if (typeof owner === 'string') owners.set(conversationId, owner);
      const uid = owners.get(conversationId);
      if (uid === undefined) continue;
      const [entry] = await store.get([inboxPath(uid, conversationId)]);
      states.push({ ...commit, uid, conversationId, conversation, entry });
    }
    return states;
  };
}

/** A commit that was applied, in the order of all. */
interface AppliedCommit {
  process: string;
  /** The request that it was made for: the same object in all that one action does. */
  flow: object;
  atMs: number;
  writes: readonly Write[];
}

/** An answer that a client has received in full. */
interface Acknowledgement {
  messageId: string;
  /** What the user said; absent where a turn says again what another said. */
  text: string | undefined;
  turn: FinishedTurn['turn'];
}

/** What the chat model was sent, and how many commits had been applied by then. */
interface ChatCall extends ModelRequest {
  /** The request that it was made for. */
  flow: object;
  afterCommits: number;
}

/** What the app said to a call, and was told that it was taken. */
interface TakenResult {
  seq: number;
  index: number;
  response: Record<string, unknown>;
}

/** What a device that follows its user's inbox was told. */
interface Told {
  /** How many commits had been applied by then. */
  afterCommits: number;
  /** The cursor behind it. */
  id: string;
  event: UserEvent;
}

/** Everything that is remembered of a run beside the documents. */
export interface Journal {
  commits: AppliedCommit[];
  /** What every commit left of the conversations and entries that it wrote. */
  listed: ListedState[];
  /** In the order in which it came. */
  told: Told[];
  chatCalls: ChatCall[];
  acknowledged: Acknowledgement[];
  taken: TakenResult[];
  /** Message id → how it was sent first. */
  sent: Map<string, { name: string; replacing: Replacing | undefined }>;
  /** Turns of the conversation behind which the app's step has run to its end, as often as it did. */
  afterTurns: string[];
  /** What an action threw. */
  errors: { action: string; error: unknown }[];
}

/** What the model, a tool and the summariser say next in place of what they are to say. */
export interface HostileValues {
  model: unknown[];
  tool: unknown[];
  summariser: unknown[];
}

export const createJournal = (): Journal => ({
  commits: [],
  listed: [],
  told: [],
  chatCalls: [],
  acknowledged: [],
  taken: [],
  sent: new Map(),
  afterTurns: [],
  errors: [],
});

/** `conversations/c1/turns/0000000003` → `turns/3`. */
const shortPath = (path: string) =>
  path.replace(/^conversations\/[^/]+\/?/, '').replace(/\/0+(?=\d)/, '/') || 'head';

const describeWrite = (write: Write) => `${write.op} ${shortPath(write.path)}`;

interface Observed {
  interleaving: Interleaving;
  store: DocumentStore;
  journal: Journal;
  listedStates: ReturnType<typeof createListedStates>;
}

/** The store as a process has it: each call is an effect of the interleaving, and commits are noted. */
export function observedStore(
  { interleaving, store, journal, listedStates }: Observed,
  process: Process,
  flow: Flow,
): DocumentStore {
  return {
    ...store,
    get: (paths) =>
      interleaving.effect(flow, () => `read ${paths.map(shortPath).join(' ')}`, {
        apply: () => store.get(paths),
      }),
    query: (query) =>
      interleaving.effect(flow, () => `query ${shortPath(query.collection)}`, {
        apply: () => store.query(query),
      }),
    commit: (writes) =>
      interleaving.effect(flow, () => `commit ${writes.map(describeWrite).join(', ')}`, {
        apply: async () => {
          const times = await store.commit(writes);
          const atMs = interleaving.now().getTime();
          const afterCommits = journal.commits.push({ process: process.name, flow, atMs, writes });
          journal.listed.push(...(await listedStates(writes, { afterCommits, atMs })));
          return times;
        },
      }),
    async *watch(collection, signal, since) {
      await interleaving.effect(flow, () => `watch ${shortPath(collection)}`, {
        apply: () => Promise.resolve(),
      });
      for await (const documents of store.watch(collection, signal, since)) {
        await interleaving.step(flow, () => `hears of ${documents.length} documents`);
        yield documents;
      }
    },
    deleteBelow: (path, signal) =>
      interleaving.effect(flow, () => `delete below ${shortPath(path)}`, {
        apply: () => store.deleteBelow(path, signal),
      }),
  };
}
