import { worldTools } from './world-tools.ts';
import { createHash } from 'node:crypto';
import { createMemoryCache } from '#functions/adapters/system/memory-cache.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { parseConfig } from '#functions/config.ts';
import { createModelHealth } from '#functions/models/model-health.ts';
import { noQuota } from '#functions/quota/create-quota.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import type { DocumentStore, StoredDocument, Write } from '#shared/ports/ports.ts';
import { localSigner } from '#test/support/signing.ts';
import type { Interleaving } from './interleaving.ts';
import { createProcess, type Flow, type Process } from './flow.ts';
import type { Journal } from './journal.ts';
import { createModels } from './world-models.ts';

export const TURN_LEASE_MS = 2_000;
/** How long a turn waits for the app. */
export const TOOL_RESULT_TIMEOUT_MS = 300_000;
export const COMPACTION_LEASE_MS = 2 * TURN_LEASE_MS;

/** Of conversations that set none; five short turns cross it. */
export const THRESHOLD_TOKENS = 450;

export const config = parseConfig({
  GOOGLE_CLOUD_PROJECT: 'demo-recap',
  FIREBASE_AUTH_EMULATOR_HOST: '127.0.0.1:9099',
  PUBSUB_EMULATOR_HOST: '127.0.0.1:8085',
  MODEL: 'gemini-2.5-flash',
  THRESHOLD_TOKENS: String(THRESHOLD_TOKENS),
  // Prompts are compared with what was sent.
  TELL_TIME: 'with-context',
  TURN_LEASE_MS: String(TURN_LEASE_MS),
  TOOL_RESULT_TIMEOUT_MS: String(TOOL_RESULT_TIMEOUT_MS),
  COMPACTION_LEASE_MS: String(COMPACTION_LEASE_MS),
});

const hashes = new Map<string, string>();

/** SHA-256; what is asked again and again is computed once. */
export function sha256(text: string): string {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  if (hashes.size > 10_000) hashes.clear();
  const hash = createHash('sha256').update(text, 'utf8').digest('hex');
  hashes.set(text, hash);
  return hash;
}

/** Turns the writes of one commit into other commits, as a careless program would have made them. */
export type Rewrite = (commit: {
  writes: readonly Write[];
  /** Documents as they are now. */
  peek: (path: string) => Promise<StoredDocument | undefined>;
  /** The same document as this process last read it. */
  lastRead: ReadonlyMap<string, StoredDocument>;
}) => Promise<readonly (readonly Write[])[]>;

/** A server process and what it keeps in its memory. */
export interface Server {
  process: Process;
  cache: ChatDependencies['cache'];
  liveTurns: ChatDependencies['liveTurns'];
  lastRead: Map<string, StoredDocument>;
}

export interface WorldOptions {
  rewrite?: Rewrite;
  /** Where the documents are; default: in memory. */
  store?: DocumentStore;
}

export type World = ReturnType<typeof createWorld>;

const silent = { log: () => undefined };
const neverFires = new AbortController().signal;
const noCrashPoints = () => Promise.resolve();

/**
 * Servers on one store, with a bus between them. Whatever a server does to the outside is an effect of
 * the interleaving; each request has its own flow, the servers' memory is shared by their requests.
 */
// oxlint-disable-next-line max-lines-per-function -- one run's state, and what closes over it
export function createWorld(interleaving: Interleaving, options: WorldOptions = {}) {
  const store = options.store ?? createMemoryDocumentStore({ pause: () => Promise.resolve() });
  const servers = new Map<string, Server>();
  const journal: Journal = {
    commits: [],
    chatCalls: [],
    acknowledged: [],
    taken: [],
    sent: new Map(),
    errors: [],
  };
  const models = createModels(interleaving, journal);
  let identifiers = 0;
  let subscribe: (event: object) => void = () => undefined;

  /** The server of that name; after a crash a new one without memory. */
  function findServer(name: string): Server {
    const found = servers.get(name);
    if (found && !found.process.isCrashed) return found;
    const created: Server = {
      process: createProcess(name),
      cache: createMemoryCache({ maxBytes: 1_000_000 }),
      liveTurns: new Map(),
      lastRead: new Map(),
    };
    servers.set(name, created);
    return created;
  }

  async function commit(server: Server, flow: Flow, writes: readonly Write[]): Promise<string[]> {
    const peek = async (path: string) => (await store.get([path]))[0];
    const batches = options.rewrite
      ? await options.rewrite({ writes, peek, lastRead: server.lastRead })
      : [writes];
    let times: string[] = [];
    for (const batch of batches) {
      times = await store.commit(batch);
      const atMs = interleaving.now().getTime();
      journal.commits.push({ process: server.process.name, flow, atMs, writes: batch });
    }
    return times;
  }

  function storeOf(server: Server, flow: Flow): DocumentStore {
    return {
      ...store,
      get: (paths) =>
        interleaving.effect(flow, () => `read ${paths.map(shortPath).join(' ')}`, {
          apply: async () => {
            const found = await store.get(paths);
            if (options.rewrite)
              for (const each of found) if (each) server.lastRead.set(each.path, each);
            return found;
          },
        }),
      query: (query) =>
        interleaving.effect(flow, () => `query ${shortPath(query.collection)}`, {
          apply: () => store.query(query),
        }),
      commit: (writes) =>
        interleaving.effect(flow, () => `commit ${writes.map(describeWrite).join(', ')}`, {
          apply: () => commit(server, flow, writes),
        }),
      watch: (collection, signal) => watch(flow, collection, signal),
      deleteBelow: (path, signal) =>
        interleaving.effect(flow, () => `delete below ${shortPath(path)}`, {
          apply: () => store.deleteBelow(path, signal),
        }),
    };
  }

  async function* watch(flow: Flow, collection: string, signal: AbortSignal) {
    await interleaving.effect(flow, () => `watch ${shortPath(collection)}`, {
      apply: () => Promise.resolve(),
    });
    for await (const documents of store.watch(collection, signal)) {
      await interleaving.step(flow, () => `hears of ${documents.length} documents`);
      yield documents;
    }
  }

  const shared = (server: Server, flow: Flow) => ({
    config,
    store: storeOf(server, flow),
    cache: server.cache,
    clock: interleaving.clock(flow),
    randomness: {
      uuid: () => `00000000-0000-4000-8000-${String(++identifiers).padStart(12, '0')}`,
    },
    sha256,
    signer: localSigner,
    logger: silent,
    atCrashPoint: noCrashPoints,
    publisher: {
      publish: (event: { topic: string; data: object }) =>
        interleaving.effect(flow, () => `publish to ${event.topic}`, {
          apply: () => {
            if (event.topic === 'compaction') subscribe(event.data);
            return Promise.resolve();
          },
        }),
    },
  });

  return {
    store,
    journal,
    server: findServer,
    /** Chat servers that have lived through something. */
    warmServers: () =>
      [...servers.values()].flatMap(({ process }) =>
        process.name.startsWith('chat-') && !process.isCrashed ? [process.name] : [],
      ),
    /** Who gets the compaction events. */
    onEvent: (subscriber: (event: object) => void) => {
      subscribe = subscriber;
    },
    chat: (server: Server, flow: Flow): ChatDependencies => ({
      ...shared(server, flow),
      liveTurns: server.liveTurns,
      afterwork: new Set(),
      modelHealth: createModelHealth(shared(server, flow).clock),
      model: { stream: (request, signal) => models.stream(flow, request, signal) },
      idTokens: {
        verify: () => Promise.resolve({ uid: 'u1', tier: 'signedIn', signedInAt: new Date(0) }),
      },
      appCheck: { verify: () => Promise.reject(new Error('App Check is off')) },
      revocations: { check: () => Promise.resolve() },
      toolbox: worldTools,
      quota: noQuota,
      shutdown: neverFires,
    }),
    worker: (server: Server, flow: Flow): CompactionDependencies => ({
      ...shared(server, flow),
      pushTokens: { verify: () => Promise.resolve() },
      shutdown: neverFires,
      model: {
        generate: (request, signal) => models.summarise(flow, request, signal),
        countTokens: (prompt) => Promise.resolve(estimatePromptTokens(prompt, 'character-class')),
      },
    }),
  };
}

/** `conversations/c1/turns/0000000003` → `turns/3`. */
const shortPath = (path: string) =>
  path.replace(/^conversations\/[^/]+\/?/, '').replace(/\/0+(?=\d)/, '/') || 'head';

const describeWrite = (write: Write) => `${write.op} ${shortPath(write.path)}`;
