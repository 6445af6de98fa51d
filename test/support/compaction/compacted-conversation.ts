import { noCache } from '#shared/recall/search-cache.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import { createAccounting } from '#functions/quota/accounting.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { wholeOutputs } from '#shared/conversation/context/sent-view.ts';
import {
  assembleContext,
  type ContextItem,
} from '#shared/conversation/context/assemble-context.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import {
  readContextParts,
  readConversation,
} from '#shared/conversation/context/read-conversation.ts';
import type {
  CompactionRequests,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import {
  decodeHistory,
  encodeHistory,
  type History,
} from '#shared/conversation/documents/history.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { historyPath, compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { startWrites } from '#shared/conversation/writes/turn-writes.ts';
import type { DocumentFields, DocumentStore, LogFields } from '#shared/ports/ports.ts';
import { createManualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import {
  createScriptedModel,
  snapshotAnswer,
  type ScriptedModel,
} from '#test/fakes/scripted-model.ts';
import { sha256, localSigner } from '#test/support/signing.ts';
import { buildConversation, type ConversationToBuild, userText } from './conversation-builder.ts';
import { randomUUID } from 'node:crypto';

/** What a reader of conversations needs that keeps nothing and logs nowhere. */
const plainSource = (store: Pick<DocumentStore, 'get'>) => ({
  store,
  cache: noCache,
  logger: { log: () => undefined },
});

/** Changes fields of a document that is there, whatever else it says. */
export const updateDocument = (
  store: Pick<DocumentStore, 'commit'>,
  path: string,
  fields: DocumentFields,
) => store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);

/** Changes a history as the server does. */
export async function rewriteHistory(
  store: Pick<DocumentStore, 'get' | 'commit'>,
  target: { conversationId: string; generation: number },
  changes: Partial<History>,
): Promise<void> {
  const path = historyPath(target.conversationId, target.generation);
  const [document] = await store.get([path]);
  if (!document) throw new Error(`there is no ${path}`);
  const fields = encodeHistory({ ...decodeHistory(document), ...changes });
  await updateDocument(store, path, fields);
}

interface LoggedLine {
  severity: string;
  event: string;
  fields: LogFields;
}

export interface CompactionBench extends WorkerDependencies {
  clock: ManualClock;
  model: ScriptedModel;
  published: { topic: string; data: object }[];
  logged: LoggedLine[];
}

/** The settings of a worker on this machine. */
export const workerConfig = (environment: Record<string, string> = {}) =>
  localConfig({
    GOOGLE_CLOUD_PROJECT: 'demo-recap',
    PUBSUB_EMULATOR_HOST: 'localhost:1',
    ...environment,
  });

/** The worker on the embedded store, a clock that stands still and a scripted model; all replaceable. */
export function compactionBench(overrides: Partial<CompactionBench> = {}): CompactionBench {
  const published: CompactionBench['published'] = [];
  const logged: LoggedLine[] = [];
  const {
    store = createMemoryDocumentStore(),
    clock = createManualClock(),
    randomness = { uuid: () => randomUUID() },
  } = overrides;
  return {
    config: workerConfig(),
    store,
    accounting: createAccounting({ store, clock, randomness }),
    cache: createMemoryCache({ maxBytes: 10_000_000 }),
    publisher: {
      publish: ({ topic, data }) => {
        published.push({ topic, data });
        return Promise.resolve();
      },
    },
    model: createScriptedModel({ answers: [snapshotAnswer()] }),
    pushTokens: { verify: () => Promise.resolve() },
    clock,
    randomness,
    signer: localSigner,
    sha256,
    logger: {
      log: (severity, event, fields) => {
        logged.push({ severity, event, fields });
      },
    },
    atCrashPoint: () => Promise.resolve(),
    shutdown: new AbortController().signal,
    published,
    logged,
    ...overrides,
  };
}

/** The same with Gemini CLI's two passes as its way to write snapshots. */
export const geminiCliBench = (overrides: Partial<CompactionBench> = {}): CompactionBench =>
  compactionBench({ config: workerConfig({ SUMMARY_STRATEGY: 'gemini-cli' }), ...overrides });

/** `bench`, whose worker waits for `act` each time it passes `point`. */
export const actingAt = (
  bench: CompactionBench,
  point: string,
  act: () => Promise<unknown>,
): CompactionBench => ({
  ...bench,
  atCrashPoint: async (passed) => {
    if (passed === point) await act();
  },
});

export const neverAborted = () => new AbortController().signal;

/** A threshold that twenty made-up turns exceed three times. */
export const THRESHOLD_TOKENS = 1_000;

const SINCE = new Date('2026-01-02T03:04:00.000Z');

export const autoRequest = (requestId = 'request-1'): CompactionRequests => ({
  auto: { requestId, since: SINCE, trigger: 'auto' },
});

export const overflowRequest = (requestId = 'request-o'): CompactionRequests => ({
  auto: { requestId, since: SINCE, trigger: 'overflow' },
});

export const manualRequest = (requestId = 'request-m', focus?: string): CompactionRequests => ({
  manual: { requestId, since: SINCE, ...(focus !== undefined && { focus }) },
});

/** A conversation over its threshold that asks for a compaction. */
export async function buildDue(
  bench: Pick<CompactionBench, 'store'>,
  options: Partial<ConversationToBuild> = {},
): Promise<string> {
  const { conversationId } = await buildConversation(bench.store, {
    turns: 20,
    // Outputs that come within their budget alone would leave it below the threshold.
    isReported: JSON.stringify(options.turns ?? '').includes('functionResponse'),
    ...options,
    conversation: {
      settings: { thresholdTokens: THRESHOLD_TOKENS },
      compactionRequests: autoRequest(),
      ...options.conversation,
    },
  });
  return conversationId;
}

export const compactOnce = (bench: CompactionBench, conversationId: string) =>
  runCompaction(bench, { conversationId, signal: neverAborted() });

/** What is in the store now, read as every reader of the service does. */
interface Seen {
  conversation: Conversation;
  job: CompactionJob | undefined;
  history: History | undefined;
  turns: Turn[];
  items: ContextItem[];
  /** What the meter says. */
  tokens: number;
  /** Everything that the model would see, as one text. */
  text: string;
}

/** Outputs as they are: none is long here. */
const plainForms = wholeOutputs({ counting: { rule: 'character-class' } });

export async function see(store: DocumentStore, conversationId: string): Promise<Seen> {
  const conversation = await readConversation(store, conversationId);
  if (!conversation) throw new Error(`there is no conversation ${conversationId}`);
  const [job] = await store.get([compactionJobPath(conversationId)]);
  const { history, turns } = await readContextParts(plainSource(store), {
    conversationId,
    conversation: conversation.value,
  });
  const { model, pins, coveredThrough } = conversation.value;
  const items = assembleContext({ model, pins, coveredThrough, history, turns });
  return {
    conversation: conversation.value,
    job: job && decodeJob(job).value,
    history,
    turns,
    items,
    tokens: contextTokens({ conversation: conversation.value, history, turns }, plainForms).tokens,
    text: JSON.stringify(items),
  };
}

/** Two minutes after the needs of `buildDue` were noted. */
export const sweepBench = (overrides: Partial<CompactionBench> = {}) =>
  compactionBench({
    clock: createManualClock(new Date('2026-01-02T03:06:05.000Z')),
    ...overrides,
  });

export const sweep = (bench: WorkerDependencies) => runSweep(bench, neverAborted());

/** A conversation document that no sweep publishes anything for. */
export const quiet = { compactionRequests: {} };

/** Time of the bench, in seconds from now. */
export const inSeconds = (bench: CompactionBench, seconds: number) =>
  new Date(bench.clock.now().getTime() + seconds * 1_000);

/** A conversation of two turns whose third was started by an instance that has been silent since. */
export async function buildOpen(bench: CompactionBench, leaseUntil: Date): Promise<string> {
  const { conversationId } = await buildConversation(bench.store, {
    turns: 2,
    conversation: quiet,
  });
  const conversation = await readConversation(bench.store, conversationId);
  if (!conversation) throw new Error('no head');
  await bench.store.commit(
    startWrites({
      conversationId,
      messageId: 'open',
      bodyHash: 'built',
      seq: 3,
      user: userText('Are you there?'),
      userTokens: 4,
      lease: { producer: 'gone', leaseUntil },
      now: new Date(0),
      conversation,
    }),
  );
  return conversationId;
}

export const storedConversation = async (
  { store }: Pick<CompactionBench, 'store'>,
  conversationId: string,
) => (await readConversation(store, conversationId))?.value;
