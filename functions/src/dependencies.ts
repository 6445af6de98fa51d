import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { requestPlacesPath } from '#shared/conversation/documents/paths.ts';
import type {
  FileBucket,
  AccessTokens,
  RevocationCheck,
  Clock,
  EventWebhook,
  ModelGenerator,
  ModelStreamer,
  Notifier,
  TokenCounter,
} from '#shared/ports/ports.ts';
import { type DatabaseClock, createDatabaseClock, onceTimeIsKnown } from './adapters/clocks.ts';
// Loaded with the process: what is loaded within a request would write within it (see `writeTogether`).
import { jsonLogger } from './adapters/json-logger.ts';
import { chatSteps, checkPrice, compactionHooks, serverTool, type ChatSteps } from './app-steps.ts';
import type { RecapApp } from './app.ts';
import type { FunctionDependencies } from './bootstrap/register.ts';
import type { ChatDependencies } from './chat/chat-dependencies.ts';
import type { builtInTools } from './chat/turns/tools/built-in-tools.ts';
import type { Config } from './config.ts';
import { createAppMemory, createRemotePolicy } from './config/remote-documents.ts';
import { createModelWatch } from './models/model-watch.ts';
import { createHash, randomUUID } from 'node:crypto';

/** Collaborators that tests and the embedded mode put in the place of the real ones. */
export type Overrides = Partial<
  Omit<ChatDependencies, 'model' | 'config' | 'afterTurn' | keyof ChatSteps>
> &
  Partial<Pick<WorkerDependencies, 'pushTokens' | 'hooks' | 'notifier' | 'eventWebhook'>> & {
    model?: ChatDependencies['model'] & WorkerDependencies['model'];
  };

/** What the dependencies of either function are made of. */
interface Setup {
  config: Config;
  app: RecapApp;
  overrides: Overrides;
  /** What tells the time. */
  clock: Clock;
  /** The clock that the store's replies set: the same, unless a test has its own. */
  databaseClock: DatabaseClock;
}

/**
 * The composition root: the one place that knows which adapter stands behind which port. Each function
 * asks for its own half, and nothing is loaded before it is asked for.
 */
export function createDependencies(
  config: Config,
  overrides: Overrides = {},
  app: RecapApp = {},
): FunctionDependencies {
  checkPrice(config, app);
  const databaseClock = createDatabaseClock();
  const clock = overrides.clock ?? databaseClock;
  const setup: Setup = { config, app, overrides, clock, databaseClock };
  return {
    clock,
    drainMs: config.DRAIN_MS,
    chat: () => createChat(setup),
    compaction: () => createCompaction(setup),
  };
}

async function createChat(setup: Setup): Promise<ChatDependencies> {
  const [
    { createIdTokenVerifier, createServiceTokenVerifier, createAppCheckVerifier },
    { createQuota },
    { createBeforeTurnWebhooks },
    { createModelHealth },
  ] = await Promise.all([
    import('./adapters/tokens.ts'),
    import('./quota/create-quota.ts'),
    import('./adapters/webhooks.ts'),
    import('./models/model-health.ts'),
  ]);
  const { config, app, overrides, clock } = setup;
  const shared = await createShared(setup);
  return {
    ...shared,
    liveTurns: overrides.liveTurns ?? new Map(),
    afterwork: overrides.afterwork ?? new Set(),
    modelHealth: overrides.modelHealth ?? createModelHealth(clock),
    idTokens:
      overrides.idTokens ??
      onceTimeIsKnown(createIdTokenVerifier(config, clock), hearTime(setup, shared)),
    serviceTokens:
      overrides.serviceTokens ??
      onceTimeIsKnown(createServiceTokenVerifier(config, clock), hearTime(setup, shared)),
    appCheck: overrides.appCheck ?? createAppCheckVerifier(config, clock),
    revocations: overrides.revocations ?? (await createRevocationCheck(setup)),
    toolbox: overrides.toolbox ?? (await createTools(setup, shared)),
    quota: overrides.quota ?? createQuota(shared),
    ...chatSteps(app),
    beforeTurnWebhooks: (webhooks) => createBeforeTurnWebhooks(webhooks, signedPosts(setup)),
  };
}

async function createCompaction(setup: Setup): Promise<WorkerDependencies> {
  const [{ createPushTokenVerifier }, { createPausingGenerator }, { createWebhookHooks }] =
    await Promise.all([
      import('./adapters/tokens.ts'),
      import('./models/model-health.ts'),
      import('./adapters/webhooks.ts'),
    ]);
  const { config, app, overrides, clock } = setup;
  const shared = await createShared(setup);
  const notifier = overrides.notifier ?? (await createNotifier(setup));
  const eventWebhook = overrides.eventWebhook ?? (await createOperatorWebhook(setup));
  return {
    ...shared,
    ...(notifier && { notifier }),
    ...(eventWebhook && { eventWebhook }),
    model: { ...shared.model, ...createPausingGenerator(shared.model, clock) },
    pushTokens:
      overrides.pushTokens ??
      onceTimeIsKnown(createPushTokenVerifier(config, clock), hearTime(setup, shared)),
    serverTools: (overrides.toolbox ?? (await createTools(setup, shared))).declarations,
    hooks: overrides.hooks ?? compactionHooks(app),
    webhooks: (webhooks) => createWebhookHooks(webhooks, signedPosts(setup)),
  };
}

/** What both functions share: store, bus, model and surroundings. */
async function createShared(setup: Setup) {
  const [
    { createMemoryCache },
    { createHmacSigner },
    { withFiles },
    { promptFiles },
    { createAccounting },
  ] = await Promise.all([
    import('./adapters/memory-cache.ts'),
    import('./adapters/hmac-signer.ts'),
    import('./adapters/gemini/gemini-files.ts'),
    import('./models/models-in-use.ts'),
    import('./quota/accounting.ts'),
  ]);
  const { config, app, overrides, clock } = setup;
  const store = overrides.store ?? (await createStore(setup));
  const logger = overrides.logger ?? jsonLogger;
  const files = overrides.files ?? (await createFiles(setup));
  const model = overrides.model ?? (await createModel(setup));
  const randomness = overrides.randomness ?? { uuid: () => randomUUID() };
  const remotePolicy = createRemotePolicy({ store, clock, logger });
  const signer =
    config.HOOK_SIGNING_KEY === undefined ? undefined : createHmacSigner(config.HOOK_SIGNING_KEY);
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
      // Other vendors get the bytes.
      modelReadsBucket: readsBucket(config) && app.model === undefined,
      promptFiles: (name) => promptFiles({ remotePolicy }, name),
    }),
    randomness,
    accounting: overrides.accounting ?? createAccounting({ store, clock, randomness }),
    sha256: (text: string) => createHash('sha256').update(text, 'utf8').digest('hex'),
    signer: overrides.signer ?? signer,
    logger,
    atCrashPoint: overrides.atCrashPoint ?? (() => Promise.resolve()),
    shutdown: overrides.shutdown ?? new AbortController().signal,
    afterTurn: app.afterTurn,
  };
}

type Shared = Awaited<ReturnType<typeof createShared>>;

/** Resolves when the database has told the time, which another store than Firestore does not. Throws StoreUnavailableError. */
const hearTime =
  ({ overrides, databaseClock }: Setup, { store }: Shared) =>
  async (): Promise<void> => {
    if (!overrides.store && !databaseClock.isSet()) await store.get([requestPlacesPath]);
  };

/** The functions that the chat function runs for the model; the worker measures their declarations. */
async function createTools({ app }: Setup, shared: Parameters<typeof builtInTools>[0]) {
  const [{ createToolbox }, { builtInTools: builtIn }] = await Promise.all([
    import('./chat/turns/tools/toolbox.ts'),
    import('./chat/turns/tools/built-in-tools.ts'),
  ]);
  return createToolbox([...builtIn(shared), ...(app.tools ?? []).map(serverTool)]);
}

/** Firestore, whose replies set the clock. */
async function createStore({ config, databaseClock }: Setup) {
  const { createFirestoreDocumentStore } = await import('./adapters/firestore.ts');
  return createFirestoreDocumentStore({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    databaseId: config.FIRESTORE_DATABASE,
    deadlineMs: config.STORE_DEADLINE_MS,
    clock: databaseClock,
  });
}

/** Pub/Sub. */
async function createPublisher(config: Config) {
  const { createPubSubEventPublisher } = await import('./adapters/pubsub.ts');
  return createPubSubEventPublisher({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    topicIds: { compaction: config.COMPACTION_TOPIC, events: config.EVENTS_TOPIC },
    deadlineMs: config.PUBLISH_DEADLINE_MS,
  });
}

/** The app's model by its id, and for all other ids Gemini. */
async function createModel({ config, app }: Setup): Promise<AnyModel> {
  const gemini = await createGemini(config);
  if (!app.model) return gemini;
  const { id, source } = app.model;
  const { createAiSdkModel } = await import('./adapters/ai-sdk-model.ts');
  const own = createAiSdkModel(source, {
    firstEventTimeoutMs: config.MODEL_FIRST_EVENT_TIMEOUT_MS,
    eventIdleTimeoutMs: config.MODEL_IDLE_TIMEOUT_MS,
    requestTimeoutMs: config.TURN_TIMEOUT_MS,
  });
  const named = ({ model }: { model: string }) => (model === id ? own : gemini);
  return {
    ...(config.MODEL !== id && { prepare: () => gemini.prepare?.() }),
    stream: (request, signal) => named(request).stream(request, signal),
    generate: (request, signal) => named(request).generate(request, signal),
    countTokens: (prompt, signal) => named(prompt).countTokens(prompt, signal),
  };
}

type AnyModel = ModelStreamer & ModelGenerator & TokenCounter;

/** The Gemini API where there is a key, else Vertex AI. */
async function createGemini(config: Config): Promise<AnyModel> {
  const { createGeminiModel } = await import('./adapters/gemini/gemini-model.ts');
  return createGeminiModel({
    ...(config.GEMINI_API_KEY
      ? { apiKey: config.GEMINI_API_KEY }
      : {
          vertex: {
            project: config.VERTEX_PROJECT ?? config.GOOGLE_CLOUD_PROJECT,
            location: config.VERTEX_LOCATION,
          },
        }),
    baseUrl: config.GEMINI_BASE_URL,
    firstEventTimeoutMs: config.MODEL_FIRST_EVENT_TIMEOUT_MS,
    eventIdleTimeoutMs: config.MODEL_IDLE_TIMEOUT_MS,
    requestTimeoutMs: config.TURN_TIMEOUT_MS,
  });
}

/** Vertex AI reads the project's own buckets; a fake bucket nobody but this process can read. */
const readsBucket = ({ GEMINI_API_KEY, GEMINI_BASE_URL, isDemo }: Config): boolean =>
  !isDemo && GEMINI_API_KEY === undefined && GEMINI_BASE_URL === undefined;

async function googleTokens(): Promise<AccessTokens> {
  const { createAccessTokens } = await import('./adapters/access-tokens.ts');
  return createAccessTokens();
}

/** Local servers take any token, and a machine without credentials has none. */
function localTokens(token: string): AccessTokens {
  const get = () => Promise.resolve(token);
  return { get, renew: get };
}

const withoutSlash = (url: string) => url.replace(/\/+$/, '');

/** The bucket of uploads, where the deployment names one. */
async function createFiles({ config, clock }: Setup): Promise<FileBucket | undefined> {
  const { UPLOADS_BUCKET: bucket, UPLOADS_SIGNER: signer, isDemo } = config;
  if (bucket === undefined) return undefined;
  const { createGcsBucket } = await import('./adapters/cloud-storage.ts');
  const baseUrl = withoutSlash(config.UPLOADS_URL);
  return createGcsBucket({
    bucket,
    baseUrl,
    // The fake Gemini signs as well.
    iamUrl: isDemo ? baseUrl : 'https://iamcredentials.googleapis.com',
    signer: signer ?? 'local@demo-recap.iam.gserviceaccount.com',
    accessTokens: isDemo ? localTokens('local') : await googleTokens(),
    clock,
  });
}

/** Identity Platform, which knows whether a sign-in still holds. */
async function createRevocationCheck({ config, clock }: Setup): Promise<RevocationCheck> {
  const { createAccountRevocationCheck } = await import('./adapters/accounts.ts');
  const emulator = config.allowUnsignedIdTokens && config.FIREBASE_AUTH_EMULATOR_HOST;
  return createAccountRevocationCheck({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    // The Auth emulator serves the same API below this path, and takes this token for an administrator's.
    baseUrl: emulator
      ? `http://${emulator}/identitytoolkit.googleapis.com`
      : withoutSlash(config.IDENTITY_TOOLKIT_URL),
    accessTokens: emulator ? localTokens('owner') : await googleTokens(),
    clock,
  });
}

/** Who sends notifications, where the deployment names a project to send them through. */
async function createNotifier({ config, clock }: Setup): Promise<Notifier | undefined> {
  const { FCM_PROJECT: projectId, FCM_URL, isDemo } = config;
  if (projectId === undefined) return undefined;
  const { createFcmNotifier } = await import('./adapters/fcm.ts');
  const accessTokens = isDemo ? localTokens('local') : await googleTokens();
  return createFcmNotifier({ projectId, baseUrl: withoutSlash(FCM_URL), accessTokens, clock });
}

/** The address that is told of all events, where the deployment names one. */
async function createOperatorWebhook(setup: Setup): Promise<EventWebhook | undefined> {
  const { EVENT_WEBHOOK_URL: url } = setup.config;
  if (url === undefined) return undefined;
  const { createEventWebhook } = await import('./adapters/webhooks.ts');
  return createEventWebhook(url, signedPosts(setup));
}

/** What all calls of webhooks share: to whom they may go, and how they are signed. */
const signedPosts = ({ config, clock }: Setup) => ({
  hosts: config.HOOK_HOSTS,
  allowsHttp: config.allowHttpHooks,
  // Where there is none, no host is allowed either.
  signingKey: config.HOOK_SIGNING_KEY ?? '',
  clock,
});
