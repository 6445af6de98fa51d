import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createToolbox, type Toolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { createModelHealth } from '#functions/models/model-health.ts';
import { createAccounting } from '#functions/quota/accounting.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { localConfig } from '#infra/local/local-config.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { noQuota } from '#test/fakes/no-quota.ts';
import { tool } from '#test/support/tools/tool-world.ts';
import { type Interleaving, createProcess, type Flow, type Process } from './interleaving.ts';
import { createModels } from './world-models.ts';
import { CONVERSATION } from './initial-state.ts';
import {
  createJournal,
  createListedStates,
  type HostileValues,
  type Journal,
  observedStore,
} from './world-store.ts';
import { createHash } from 'node:crypto';
import { z } from 'zod';

export const TURN_LEASE_MS = 2_000;
/** How long a turn waits for the app. */
export const TOOL_RESULT_TIMEOUT_MS = 300_000;
export const COMPACTION_LEASE_MS = 2 * TURN_LEASE_MS;

/** Of conversations that set none; five short turns cross it. */
export const THRESHOLD_TOKENS = 450;

export const config = localConfig({
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

/** A server process and what it keeps in its memory. */
export interface Server {
  process: Process;
  cache: ChatDependencies['cache'];
  liveTurns: ChatDependencies['liveTurns'];
}

/** How the app's step behind a turn behaves when it first runs for one; later it does what it is to do. */
export const stepManners = ['works', 'throws', 'hangs'] as const;
export type StepManner = (typeof stepManners)[number];

/** An app's step behind turns, as all servers have it. */
function createStep(
  journal: Journal,
  manner: StepManner,
): NonNullable<ChatDependencies['afterTurn']> {
  const begun = new Set<string>();
  return async ({ conversationId, turn: { turnId }, signal }) => {
    const isFirst = !begun.has(`${conversationId} ${turnId}`);
    begun.add(`${conversationId} ${turnId}`);
    if (isFirst && manner === 'throws') throw new Error('the step fails at first');
    if (isFirst && manner === 'hangs')
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      );
    if (conversationId === CONVERSATION) journal.afterTurns.push(turnId);
  };
}

export interface WorldOptions {
  /** Absent: the app has no step behind turns. */
  afterTurn?: StepManner | undefined;
  /** Where the documents are; default: in memory. */
  store?: DocumentStore;
}

export type World = ReturnType<typeof createWorld>;

/** The tools of every server. They are not declared: the prompts of those who call none are as they were. */
function worldTools(hostile: HostileValues): Toolbox {
  const look = tool('look', {}, (_, { key }) =>
    Promise.resolve(
      hostile.tool.length > 0
        ? z.custom<Record<string, unknown>>().parse(hostile.tool.shift())
        : { output: `seen under ${key}` },
    ),
  );
  const ask = tool('ask', {}, () => Promise.reject(new Error('nobody answers')));
  return { ...createToolbox([look, ask]), declarations: [] };
}

const noEvents = () => undefined;
const neverFires = new AbortController().signal;

/** Of a caller whom nobody checks. */
const unchecked = {
  idTokens: {
    verify: () =>
      Promise.resolve({ uid: 'u1', tier: 'signedIn' as const, signedInAt: new Date(0) }),
  },
  appCheck: { verify: () => Promise.reject(new Error('App Check is off')) },
  revocations: { check: () => Promise.resolve() },
  quota: noQuota,
  shutdown: neverFires,
};

function createServers() {
  const servers = new Map<string, Server>();
  return {
    /** The server of that name; after a crash a new one without memory. */
    find: (name: string): Server => {
      const found = servers.get(name);
      if (found && !found.process.isCrashed) return found;
      const created: Server = {
        process: createProcess(name),
        cache: createMemoryCache({ maxBytes: 1_000_000 }),
        liveTurns: new Map(),
      };
      servers.set(name, created);
      return created;
    },
    /** Chat servers that have lived through something. */
    warm: () =>
      [...servers.values()].flatMap(({ process }) =>
        process.name.startsWith('chat-') && !process.isCrashed ? [process.name] : [],
      ),
  };
}

function createBus(interleaving: Interleaving) {
  let subscriber: (event: object) => void = noEvents;
  return {
    onEvent: (subscribed: (event: object) => void) => {
      subscriber = subscribed;
    },
    publisherOf: (flow: Flow) => ({
      publish: (event: { topic: string; data: object }) =>
        interleaving.effect(flow, () => `publish to ${event.topic}`, {
          apply: () => {
            if (event.topic === 'compaction') subscriber(event.data);
            return Promise.resolve();
          },
        }),
    }),
  };
}

/**
 * Servers on one store, with a bus between them. Whatever a server does to the outside is an effect of
 * the interleaving; each request has its own flow, the servers' memory is shared by their requests.
 */
export function createWorld(interleaving: Interleaving, options: WorldOptions = {}) {
  const store = options.store ?? createMemoryDocumentStore({ pause: () => Promise.resolve() });
  const servers = createServers();
  const bus = createBus(interleaving);
  const journal = createJournal();
  const hostile: HostileValues = { model: [], tool: [], summariser: [] };
  const models = createModels(interleaving, journal, hostile);
  const toolbox = worldTools(hostile);
  const listedStates = createListedStates(store);
  const observed = { interleaving, store, journal, listedStates };
  const afterTurn = options.afterTurn && createStep(journal, options.afterTurn);
  let identifiers = 0;

  const collaborators = (server: Server, flow: Flow) => ({
    config,
    store: observedStore(observed, server.process, flow),
    cache: server.cache,
    clock: interleaving.clock(flow),
    randomness: {
      uuid: () => `00000000-0000-4000-8000-${String(++identifiers).padStart(12, '0')}`,
    },
    sha256,
    logger: { log: noEvents },
    atCrashPoint: () => Promise.resolve(),
    publisher: bus.publisherOf(flow),
    shutdown: neverFires,
    ...(afterTurn && { afterTurn }),
  });
  const shared = (server: Server, flow: Flow) => {
    const those = collaborators(server, flow);
    return { ...those, accounting: createAccounting(those) };
  };

  return {
    store,
    journal,
    hostile,
    server: servers.find,
    warmServers: servers.warm,
    /** Who gets the compaction events. */
    onEvent: bus.onEvent,
    chat: (server: Server, flow: Flow): ChatDependencies => ({
      ...shared(server, flow),
      ...unchecked,
      toolbox,
      liveTurns: server.liveTurns,
      afterwork: new Set(),
      modelHealth: createModelHealth(shared(server, flow).clock),
      model: { stream: (request, signal) => models.stream(flow, request, signal) },
    }),
    worker: (server: Server, flow: Flow): WorkerDependencies => ({
      ...shared(server, flow),
      pushTokens: { verify: () => Promise.resolve() },
      model: {
        generate: (request, signal) => models.summarise(flow, request, signal),
        countTokens: (prompt) => Promise.resolve(estimatePromptTokens(prompt, 'character-class')),
      },
    }),
  };
}
