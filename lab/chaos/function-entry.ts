import {
  createDatabaseClock,
  onceTimeIsKnown,
} from '#functions/adapters/firestore/database-clock.ts';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { createIdTokenVerifier } from '#functions/adapters/auth/id-token-verifier.ts';
import { createPushTokenVerifier } from '#functions/adapters/auth/push-token-verifier.ts';
import { createPubSubEventPublisher } from '#functions/adapters/google/pubsub-event-publisher.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { endOnSignal } from '#functions/bootstrap/end-on-signal.ts';
import { registerFunctions } from '#functions/bootstrap/register.ts';
import { serveFunctions } from '#infra/local/stack/function-host.ts';
import { requestPlacesPath } from '#shared/conversation/documents/paths.ts';
import { createShiftedClock } from '#test/fakes/shifted-clock.ts';
import { chaosPublisher } from './chaos-publisher.ts';
import { chaosStore } from './chaos-store.ts';
import { type EntryMessage, entrySettingsSchema } from './phones/entry-settings.ts';
import { fastClock } from './fast-clock.ts';
import { createRandom } from './random.ts';

/**
 * A function as a process of a chaos run: the functions as they ship, behind a store and a publisher that
 * have faults. Arguments: `chat` or `compaction`, the port, the settings as JSON.
 */
const [target, port, settingsJson] = process.argv.slice(2);
if (target !== 'chat' && target !== 'compaction')
  throw new Error(`expected chat or compaction, not ${JSON.stringify(target)}`);

const settings = entrySettingsSchema.parse(JSON.parse(settingsJson ?? ''));
const config = localConfig(process.env);
const time = createDatabaseClock(createShiftedClock(settings.skewMs));
const clock = fastClock(time, settings);
const random = createRandom(settings.seed);
const tell = (message: EntryMessage): void => void process.send?.(message);

const ownRequests = new Set<string>();
const store = chaosStore(
  createFirestoreDocumentStore({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    databaseId: config.FIRESTORE_DATABASE,
    deadlineMs: config.STORE_DEADLINE_MS,
    clock: time,
  }),
  { settings, random, clock, tell, onRequest: (requestId) => ownRequests.add(requestId) },
);
const publisher = chaosPublisher(
  createPubSubEventPublisher({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    topicIds: { compaction: config.COMPACTION_TOPIC, events: config.EVENTS_TOPIC },
    deadlineMs: config.PUBLISH_DEADLINE_MS,
  }),
  { settings, random, tell, takeOwnRequest: (requestId) => ownRequests.delete(requestId) },
);

/** As the functions do where nobody gives them a store. */
const hear = async () => {
  if (!time.isSet()) await store.get([requestPlacesPath]);
};
const shutdown = new AbortController();
const functions = registerFunctions(
  createDependencies(config, {
    store,
    publisher,
    clock,
    // Tokens of the phones live in real time.
    idTokens: onceTimeIsKnown(createIdTokenVerifier(config, time), hear),
    pushTokens: onceTimeIsKnown(createPushTokenVerifier(config, time), hear),
    shutdown: shutdown.signal,
  }),
);
endOnSignal(process, () => {
  shutdown.abort();
  return functions.drain();
});
await serveFunctions([{ target, port: Number(port) }]);
