import { createHash, randomUUID } from 'node:crypto';
import type { Clock, DocumentStore, EventPublisher } from '../../shared/ports.ts';
import { systemClock } from './adapters/system-clock.ts';
import type { ChatDependencies } from './chat/chat-dependencies.ts';
import type { CompactionDependencies } from './compaction/compaction-dependencies.ts';
import type { Config } from './config.ts';
import type { FunctionDependencies } from './register.ts';

/** Collaborators that tests and the embedded mode put in the place of the real ones. */
export type Overrides = Partial<Omit<ChatDependencies, 'model' | 'config'>> &
  Partial<Pick<CompactionDependencies, 'pushTokens'>> & {
    model?: ChatDependencies['model'] & CompactionDependencies['model'];
  };

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

const clockOf = ({ clock }: Overrides): Clock => clock ?? systemClock;

/** What both functions share: store, bus, model and surroundings. */
async function createShared(config: Config, overrides: Overrides) {
  const [{ createMemoryCache }, { jsonLogger }] = await Promise.all([
    import('./adapters/memory-cache.ts'),
    import('./adapters/json-logger.ts'),
  ]);
  return {
    config,
    clock: clockOf(overrides),
    store: overrides.store ?? (await createStore(config)),
    cache: overrides.cache ?? createMemoryCache({ maxBytes: config.CACHE_BYTES }),
    publisher: overrides.publisher ?? (await createPublisher(config)),
    model: overrides.model ?? (await createModel(config)),
    randomness: overrides.randomness ?? { uuid: () => randomUUID() },
    sha256,
    logger: overrides.logger ?? jsonLogger,
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
      const { createIdTokenVerifier } = await import('./adapters/id-token-verifier.ts');
      return {
        ...(await createShared(config, overrides)),
        liveTurns: overrides.liveTurns ?? new Map(),
        idTokens: overrides.idTokens ?? createIdTokenVerifier(config),
        // Quotas come with their own adapter; until then every turn is allowed.
        quota: overrides.quota ?? { reserve: () => Promise.resolve() },
      };
    },
    compaction: async () => {
      const { createPushTokenVerifier } = await import('./adapters/push-token-verifier.ts');
      return {
        ...(await createShared(config, overrides)),
        pushTokens: overrides.pushTokens ?? createPushTokenVerifier(config),
      };
    },
  };
}
