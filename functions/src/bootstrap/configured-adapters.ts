import type {
  RevocationCheck,
  FileBucket,
  Clock,
  DocumentStore,
  EventPublisher,
  EventWebhook,
  Notifier,
} from '#shared/ports/ports.ts';
import type { DatabaseClock } from '../adapters/firestore/database-clock.ts';
import type { Config } from '../config.ts';

/* What stands behind each port as the configuration says it. Nothing is loaded before it is asked for. */

const local = () => Promise.resolve('local');
/** Stand-ins take any token, and a machine without credentials has none. */
const localTokens = { get: local, renew: local };
const LOCAL_SIGNER = 'local@demo-recap.iam.gserviceaccount.com';

/** Firestore, whose replies set the clock. */
export async function createStore(
  config: Config,
  clock: Pick<DatabaseClock, 'asking'>,
): Promise<DocumentStore> {
  const { createFirestoreDocumentStore } =
    await import('../adapters/firestore/firestore-document-store.ts');
  return createFirestoreDocumentStore({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    databaseId: config.FIRESTORE_DATABASE,
    deadlineMs: config.STORE_DEADLINE_MS,
    clock,
  });
}

/** Pub/Sub. */
export async function createPublisher(config: Config): Promise<EventPublisher> {
  const { createPubSubEventPublisher } =
    await import('../adapters/google/pubsub-event-publisher.ts');
  return createPubSubEventPublisher({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    topicIds: { compaction: config.COMPACTION_TOPIC, events: config.EVENTS_TOPIC },
    deadlineMs: config.PUBLISH_DEADLINE_MS,
  });
}

/** The Gemini API where there is a key, else Vertex AI. */
export async function createModel(config: Config) {
  const { createGeminiModel } = await import('../adapters/gemini/gemini-model.ts');
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
export async function createFiles(config: Config, clock: Clock): Promise<FileBucket | undefined> {
  const { UPLOADS_BUCKET: bucket, UPLOADS_SIGNER: signer, isDemo } = config;
  if (bucket === undefined) return undefined;
  const [{ createGcsBucket }, { createAccessTokens }] = await Promise.all([
    import('../adapters/google/gcs-bucket.ts'),
    import('../adapters/auth/access-tokens.ts'),
  ]);
  const baseUrl = config.UPLOADS_URL.replace(/\/+$/, '');
  return createGcsBucket({
    bucket,
    baseUrl,
    // The fake Gemini signs as well.
    iamUrl: isDemo ? baseUrl : 'https://iamcredentials.googleapis.com',
    signer: signer ?? LOCAL_SIGNER,
    accessTokens: isDemo ? localTokens : createAccessTokens(),
    clock,
  });
}

/** Vertex AI reads the project's own buckets; a fake bucket nobody but this process can read. */
export const readsBucket = ({ GEMINI_API_KEY, GEMINI_BASE_URL, isDemo }: Config): boolean =>
  !isDemo && GEMINI_API_KEY === undefined && GEMINI_BASE_URL === undefined;

/** Identity Platform, which knows whether a sign-in still holds. */
export async function createRevocationCheck(
  config: Config,
  clock: Clock,
): Promise<RevocationCheck> {
  const [{ createAccountRevocationCheck }, { createAccessTokens }] = await Promise.all([
    import('../adapters/auth/account-revocation-check.ts'),
    import('../adapters/auth/access-tokens.ts'),
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
    clock,
  });
}

/** Who sends notifications, where the deployment names a project to send them through. */
export async function createNotifier(config: Config, clock: Clock): Promise<Notifier | undefined> {
  const { FCM_PROJECT: projectId, FCM_URL } = config;
  if (projectId === undefined) return undefined;
  const [{ createFcmNotifier }, { createAccessTokens }] = await Promise.all([
    import('../adapters/google/fcm-notifier.ts'),
    import('../adapters/auth/access-tokens.ts'),
  ]);
  return createFcmNotifier({
    projectId,
    baseUrl: FCM_URL.replace(/\/+$/, ''),
    accessTokens: config.isDemo ? localTokens : createAccessTokens(),
    clock,
  });
}

/** What all calls of webhooks share: to whom they may go, and how they are signed. */
export const signedPosts = (config: Config, clock: Clock) => ({
  hosts: config.HOOK_HOSTS,
  allowsHttp: config.allowHttpHooks,
  // Where there is none, no host is allowed either.
  signingKey: config.HOOK_SIGNING_KEY ?? '',
  clock,
});

/** The address that is told of all events, where the deployment names one. */
export async function createOperatorWebhook(
  config: Config,
  clock: Clock,
): Promise<EventWebhook | undefined> {
  const { EVENT_WEBHOOK_URL: url } = config;
  if (url === undefined) return undefined;
  const { createEventWebhook } = await import('../adapters/webhooks/signed-post.ts');
  return createEventWebhook(url, signedPosts(config, clock));
}
