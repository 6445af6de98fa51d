import { createHash, randomUUID } from 'node:crypto';
import type { Webhook } from '../../shared/hooks/webhook.ts';
import type { RevocationCheck } from '../../shared/identity-ports.ts';
import type { FileBucket } from '../../shared/file-ports.ts';
import type {
  Clock,
  DocumentStore,
  EventPublisher,
  EventWebhook,
  Notifier,
} from '../../shared/ports.ts';
import { systemClock } from './adapters/system-clock.ts';
import type { ChatDependencies } from './chat/chat-dependencies.ts';
import type { builtInTools } from './chat/tools/built-in-tools.ts';
import type { CompactionDependencies } from './compaction/compaction-dependencies.ts';
import type { Config } from './config.ts';
import type { FunctionDependencies } from './register.ts';
import { createAppMemory } from './app-memory.ts';
import { createRemotePolicy } from './remote-policy.ts';

/** Collaborators that tests and the embedded mode put in the place of the real ones. */
export type Overrides = Partial<Omit<ChatDependencies, 'model' | 'config'>> &
  Partial<Pick<CompactionDependencies, 'pushTokens' | 'hooks' | 'notifier' | 'eventWebhook'>> & {
    model?: ChatDependencies['model'] & CompactionDependencies['model'];
  };

const local = () => Promise.resolve('local');
/** Stand-ins take any token, and a machine without credentials has none. */
const localTokens = { get: local, renew: local };
const LOCAL_SIGNER = 'local@demo-recap.iam.gserviceaccount.com';

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

async function createStore(config: Config): Promise<DocumentStore> {
  const { createFirestoreDocumentStore } = await import('./adapters/firestore-document-store.ts');
  return createFirestoreDocumentStore({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    databaseId: config.FIRESTORE_DATABASE,
    deadlineMs: config.STORE_DEADLINE_MS,
  });
}

async function createPublisher(config: Config): Promise<EventPublisher> {
  const { createPubSubEventPublisher } = await import('./adapters/pubsub-event-publisher.ts');
  return createPubSubEventPublisher({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    topicIds: { compaction: config.COMPACTION_TOPIC, events: config.EVENTS_TOPIC },
    deadlineMs: config.PUBLISH_DEADLINE_MS,
  });
}

async function createModel(config: Config) {
  const { createGeminiModel } = await import('./adapters/gemini-model.ts');
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

/** The bucket of uploads, where the deployment names one. */
async function createFiles(config: Config, clock: Clock): Promise<FileBucket | undefined> {
  const { UPLOADS_BUCKET: bucket, UPLOADS_SIGNER: signer, isDemo } = config;
  if (bucket === undefined) return undefined;
  const [{ createGcsBucket }, { createAccessTokens }] = await Promise.all([
    import('./adapters/gcs-bucket.ts'),
    import('./adapters/access-tokens.ts'),
  ]);
  const baseUrl = config.UPLOADS_URL.replace(/\/+$/, '');
  return createGcsBucket({
    bucket,
    baseUrl,
    // The stand-in signs as well.
    iamUrl: isDemo ? baseUrl : 'https://iamcredentials.googleapis.com',
    signer: signer ?? LOCAL_SIGNER,
    accessTokens: isDemo ? localTokens : createAccessTokens(),
    clock,
  });
}

/** Vertex AI reads the project's own buckets; a stand-in's bucket nobody but this process can read. */
const readsBucket = ({ GEMINI_API_KEY, GEMINI_BASE_URL, isDemo }: Config): boolean =>
  !isDemo && GEMINI_API_KEY === undefined && GEMINI_BASE_URL === undefined;

const clockOf = ({ clock }: Overrides): Clock => clock ?? systemClock;

async function createRevocationCheck(
  config: Config,
  overrides: Overrides,
): Promise<RevocationCheck> {
  const [{ createAccountRevocationCheck }, { createAccessTokens }] = await Promise.all([
    import('./adapters/account-revocation-check.ts'),
    import('./adapters/access-tokens.ts'),
  ]);
  // The Auth emulator serves the same API below this path, and takes this token for an administrator's.
  const emulator = config.allowUnsignedIdTokens && config.FIREBASE_AUTH_EMULATOR_HOST;
  const served = emulator
    ? {
        baseUrl: `http://${emulator}/identitytoolkit.googleapis.com`,
        accessTokens: { get: () => Promise.resolve('owner') },
      }
    : {
        baseUrl: config.IDENTITY_TOOLKIT_URL.replace(/\/+$/, ''),
        accessTokens: createAccessTokens(),
      };
  return createAccountRevocationCheck({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    ...served,
    clock: clockOf(overrides),
  });
}

/** Who sends notifications, where the deployment names a project to send them through. */
async function createNotifier(config: Config, clock: Clock): Promise<Notifier | undefined> {
  const { FCM_PROJECT: projectId, FCM_URL } = config;
  if (projectId === undefined) return undefined;
  const [{ createFcmNotifier }, { createAccessTokens }] = await Promise.all([
    import('./adapters/fcm-notifier.ts'),
    import('./adapters/access-tokens.ts'),
  ]);
  return createFcmNotifier({
    projectId,
    baseUrl: FCM_URL.replace(/\/+$/, ''),
    accessTokens: config.isDemo ? localTokens : createAccessTokens(),
    clock,
  });
}

const signedPosts = (config: Config, clock: Clock) => ({
  hosts: config.HOOK_HOSTS,
  allowsHttp: config.allowHttpHooks,
  // Where there is none, no host is allowed either.
  signingKey: config.HOOK_SIGNING_KEY ?? '',
  clock,
});

async function createOperatorWebhook(
  config: Config,
  clock: Clock,
): Promise<EventWebhook | undefined> {
  const { EVENT_WEBHOOK_URL: url } = config;
  if (url === undefined) return undefined;
  const { createEventWebhook } = await import('./adapters/event-webhook.ts');
  return createEventWebhook(url, signedPosts(config, clock));
}

/** The functions that the chat function runs for the model; the worker measures their declarations. */
async function createTools(shared: Parameters<typeof builtInTools>[0]) {
  const [{ createToolbox }, { builtInTools: builtIn }, { serverTools }] = await Promise.all([
    import('./chat/tools/toolbox.ts'),
    import('./chat/tools/built-in-tools.ts'),
    import('./server-tools.ts'),
  ]);
  return createToolbox([...builtIn(shared), ...serverTools]);
}

/** What both functions share: store, bus, model and surroundings. */
async function createShared(config: Config, overrides: Overrides) {
  const [{ createMemoryCache }, { createHmacSigner }, { jsonLogger }, { withFiles }] =
    await Promise.all([
      import('./adapters/memory-cache.ts'),
      import('./adapters/hmac-signer.ts'),
      import('./adapters/json-logger.ts'),
      import('./adapters/gemini-files.ts'),
    ]);
  const clock = clockOf(overrides);
  const store = overrides.store ?? (await createStore(config));
  const logger = overrides.logger ?? jsonLogger;
  const files = overrides.files ?? (await createFiles(config, clock));
  const model = overrides.model ?? (await createModel(config));
  return {
    config: Object.freeze({
      ...config,
      remotePolicy: createRemotePolicy({ store, clock, logger }),
      ...(config.MEMORY_BUDGET_TOKENS > 0 && {
        appMemory: createAppMemory({ store, clock, logger }),
      }),
    }),
    clock,
    store,
    cache: overrides.cache ?? createMemoryCache({ maxBytes: config.CACHE_BYTES }),
    publisher: overrides.publisher ?? (await createPublisher(config)),
    files,
    model: withFiles(model, { files, modelReadsBucket: readsBucket(config) }),
    randomness: overrides.randomness ?? { uuid: () => randomUUID() },
    sha256,
    signer: overrides.signer ?? createHmacSigner(config.SNAPSHOT_KEYS),
    logger,
    atCrashPoint: overrides.atCrashPoint ?? (() => Promise.resolve()),
    shutdown: overrides.shutdown ?? new AbortController().signal,
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
  return {
    clock: clockOf(overrides),
    drainMs: config.DRAIN_MS,
    chat: async () => {
      const [
        { createIdTokenVerifier },
        { createAppCheckVerifier },
        { createQuota },
        { createBeforeTurnWebhooks },
        { createModelHealth },
      ] = await Promise.all([
        import('./adapters/id-token-verifier.ts'),
        import('./adapters/app-check-verifier.ts'),
        import('./quota/create-quota.ts'),
        import('./adapters/webhook-hook.ts'),
        import('./model-health.ts'),
      ]);
      const shared = await createShared(config, overrides);
      return {
        ...shared,
        liveTurns: overrides.liveTurns ?? new Map(),
        afterwork: overrides.afterwork ?? new Set(),
        modelHealth: overrides.modelHealth ?? createModelHealth(shared.clock),
        idTokens: overrides.idTokens ?? createIdTokenVerifier(config),
        appCheck: overrides.appCheck ?? createAppCheckVerifier(config),
        revocations: overrides.revocations ?? (await createRevocationCheck(config, overrides)),
        toolbox: overrides.toolbox ?? (await createTools(shared)),
        quota: overrides.quota ?? createQuota(shared),
        ...(overrides.beforeTurnHooks && { beforeTurnHooks: overrides.beforeTurnHooks }),
        beforeTurnWebhooks: (webhooks: readonly Webhook[]) =>
          createBeforeTurnWebhooks(webhooks, signedPosts(config, shared.clock)),
      };
    },
    compaction: async () => {
      const [{ createPushTokenVerifier }, { createPausingGenerator }, { createWebhookHooks }] =
        await Promise.all([
          import('./adapters/push-token-verifier.ts'),
          import('./compaction/pausing-generator.ts'),
          import('./adapters/webhook-hook.ts'),
        ]);
      const shared = await createShared(config, overrides);
      const notifier = overrides.notifier ?? (await createNotifier(config, shared.clock));
      const eventWebhook =
        overrides.eventWebhook ?? (await createOperatorWebhook(config, shared.clock));
      return {
        ...shared,
        ...(notifier && { notifier }),
        ...(eventWebhook && { eventWebhook }),
        model: { ...shared.model, ...createPausingGenerator(shared.model, shared.clock) },
        pushTokens: overrides.pushTokens ?? createPushTokenVerifier(config),
        serverTools: (overrides.toolbox ?? (await createTools(shared))).declarations,
        ...(overrides.hooks && { hooks: overrides.hooks }),
        webhooks: (webhooks: readonly Webhook[]) =>
          createWebhookHooks(webhooks, signedPosts(config, shared.clock)),
      };
    },
  };
}
