import { createHash, randomUUID } from 'node:crypto';
import { requestPlacesPath } from '#shared/conversation/documents/paths.ts';
import type { Clock, DocumentStore } from '#shared/ports/ports.ts';
import {
  createDatabaseClock,
  type DatabaseClock,
  onceTimeIsKnown,
} from './adapters/firestore/database-clock.ts';
// Loaded with the process: what is loaded within a request would write within it (see `writeTogether`).
import { jsonLogger } from './adapters/system/json-logger.ts';
import type { ChatDependencies } from './chat/chat-dependencies.ts';
import type { builtInTools } from './chat/turns/tools/built-in-tools.ts';
import type { CompactionDependencies } from './worker/compaction/compaction-dependencies.ts';
import type { Config } from './config.ts';
import type { FunctionDependencies } from './bootstrap/register.ts';
import { createAppMemory } from './memory/app-memory.ts';
import {
  createFiles,
  createModel,
  createNotifier,
  createOperatorWebhook,
  createPublisher,
  createRevocationCheck,
  createStore,
  readsBucket,
  signedPosts,
} from './bootstrap/configured-adapters.ts';
import { createModelWatch } from './models/model-watch.ts';
import { createRemotePolicy } from './config/remote-policy.ts';

/** Collaborators that tests and the embedded mode put in the place of the real ones. */
export type Overrides = Partial<Omit<ChatDependencies, 'model' | 'config'>> &
  Partial<Pick<CompactionDependencies, 'pushTokens' | 'hooks' | 'notifier' | 'eventWebhook'>> & {
    model?: ChatDependencies['model'] & CompactionDependencies['model'];
  };

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

/** What tells the time, and the clock that the store's replies set: the same, unless a test has its own. */
interface Clocks {
  clock: Clock;
  ofDatabase: DatabaseClock;
}

function clocksOf({ clock }: Overrides): Clocks {
  const ofDatabase = createDatabaseClock();
  return { clock: clock ?? ofDatabase, ofDatabase };
}

/** Resolves when the database has told the time, which another store than Firestore does not. Throws StoreUnavailableError. */
const hearing =
  (store: DocumentStore, { ofDatabase }: Clocks, overrides: Overrides) =>
  async (): Promise<void> => {
    if (!overrides.store && !ofDatabase.isSet()) await store.get([requestPlacesPath]);
  };

/** The functions that the chat function runs for the model; the worker measures their declarations. */
async function createTools(shared: Parameters<typeof builtInTools>[0]) {
  const [{ createToolbox }, { builtInTools: builtIn }, { serverTools }] = await Promise.all([
    import('./chat/turns/tools/toolbox.ts'),
    import('./chat/turns/tools/built-in-tools.ts'),
    import('./bootstrap/server-tools.ts'),
  ]);
  return createToolbox([...builtIn(shared), ...serverTools]);
}

/** What both functions share: store, bus, model and surroundings. */
async function createShared(config: Config, overrides: Overrides, clocks: Clocks) {
  const [
    { createMemoryCache },
    { createHmacSigner },
    { withFiles },
    { promptFiles },
    { createAccounting },
  ] = await Promise.all([
    import('./adapters/system/memory-cache.ts'),
    import('./adapters/system/hmac-signer.ts'),
    import('./adapters/gemini/gemini-files.ts'),
    import('./models/models-in-use.ts'),
    import('./quota/accounting.ts'),
  ]);
  const { clock } = clocks;
  const store = overrides.store ?? (await createStore(config, clocks.ofDatabase));
  const logger = overrides.logger ?? jsonLogger;
  const files = overrides.files ?? (await createFiles(config, clock));
  const model = overrides.model ?? (await createModel(config));
  const randomness = overrides.randomness ?? { uuid: () => randomUUID() };
  const remotePolicy = createRemotePolicy({ store, clock, logger });
  return {
    config: Object.freeze({
      ...config,
      remotePolicy,
      modelWatch: createModelWatch({ clock, logger }),
      ...(config.MEMORY_BUDGET_TOKENS > 0 && {
        appMemory: createAppMemory({ store, clock, logger }),
      }),
    }),
    clock,
    store,
    cache: overrides.cache ?? createMemoryCache({ maxBytes: config.CACHE_BYTES }),
    publisher: overrides.publisher ?? (await createPublisher(config)),
    files,
    model: withFiles(model, {
      files,
      modelReadsBucket: readsBucket(config),
      promptFiles: (name) => promptFiles({ remotePolicy }, name),
    }),
    randomness,
    accounting: overrides.accounting ?? createAccounting({ store, clock, randomness }),
    sha256,
    signer:
      overrides.signer ??
      (config.HOOK_SIGNING_KEY === undefined
        ? undefined
        : createHmacSigner(config.HOOK_SIGNING_KEY)),
    logger,
    atCrashPoint: overrides.atCrashPoint ?? (() => Promise.resolve()),
    shutdown: overrides.shutdown ?? new AbortController().signal,
  };
}

type Collaborators = Parameters<typeof createShared>;

async function createChat(...collaborators: Collaborators): Promise<ChatDependencies> {
  const [
    { createIdTokenVerifier },
    { createAppCheckVerifier },
    { createQuota },
    { createBeforeTurnWebhooks },
    { createModelHealth },
  ] = await Promise.all([
    import('./adapters/auth/id-token-verifier.ts'),
    import('./adapters/auth/app-check-verifier.ts'),
    import('./quota/create-quota.ts'),
    import('./adapters/webhooks/webhook-hook.ts'),
    import('./models/model-health.ts'),
  ]);
  const [config, overrides, clocks] = collaborators;
  const { clock } = clocks;
  const shared = await createShared(...collaborators);
  const hear = hearing(shared.store, clocks, overrides);
  return {
    ...shared,
    liveTurns: overrides.liveTurns ?? new Map(),
    afterwork: overrides.afterwork ?? new Set(),
    modelHealth: overrides.modelHealth ?? createModelHealth(clock),
    idTokens: overrides.idTokens ?? onceTimeIsKnown(createIdTokenVerifier(config, clock), hear),
    appCheck: overrides.appCheck ?? createAppCheckVerifier(config, clock),
    revocations: overrides.revocations ?? (await createRevocationCheck(config, clock)),
    toolbox: overrides.toolbox ?? (await createTools(shared)),
    quota: overrides.quota ?? createQuota(shared),
    ...(overrides.beforeTurnHooks && { beforeTurnHooks: overrides.beforeTurnHooks }),
    beforeTurnWebhooks: (webhooks) =>
      createBeforeTurnWebhooks(webhooks, signedPosts(config, clock)),
  };
}

async function createCompaction(...collaborators: Collaborators): Promise<CompactionDependencies> {
  const [{ createPushTokenVerifier }, { createPausingGenerator }, { createWebhookHooks }] =
    await Promise.all([
      import('./adapters/auth/push-token-verifier.ts'),
      import('./models/model-health.ts'),
      import('./adapters/webhooks/webhook-hook.ts'),
    ]);
  const [config, overrides, clocks] = collaborators;
  const { clock } = clocks;
  const shared = await createShared(...collaborators);
  const hear = hearing(shared.store, clocks, overrides);
  const notifier = overrides.notifier ?? (await createNotifier(config, clock));
  const eventWebhook = overrides.eventWebhook ?? (await createOperatorWebhook(config, clock));
  return {
    ...shared,
    ...(notifier && { notifier }),
    ...(eventWebhook && { eventWebhook }),
    model: { ...shared.model, ...createPausingGenerator(shared.model, clock) },
    pushTokens:
      overrides.pushTokens ?? onceTimeIsKnown(createPushTokenVerifier(config, clock), hear),
    serverTools: (overrides.toolbox ?? (await createTools(shared))).declarations,
    ...(overrides.hooks && { hooks: overrides.hooks }),
    webhooks: (webhooks) => createWebhookHooks(webhooks, signedPosts(config, clock)),
  };
}

/**
 * The composition root: the one place that knows which adapter stands behind which port. Each function
 * asks for its own half, and nothing is loaded before it is asked for.
 */
export function createDependencies(
  config: Config,
  overrides: Overrides = {},
): FunctionDependencies {
  const clocks = clocksOf(overrides);
  return {
    clock: clocks.clock,
    drainMs: config.DRAIN_MS,
    chat: () => createChat(config, overrides, clocks),
    compaction: () => createCompaction(config, overrides, clocks),
  };
}
