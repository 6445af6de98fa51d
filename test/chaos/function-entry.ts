import { createFirestoreDocumentStore } from '../../functions/src/adapters/firestore-document-store.ts';
import { createPubSubEventPublisher } from '../../functions/src/adapters/pubsub-event-publisher.ts';
import { parseConfig } from '../../functions/src/config.ts';
import { createDependencies } from '../../functions/src/dependencies.ts';
import { endOnSignal } from '../../functions/src/end-on-signal.ts';
import { registerFunctions } from '../../functions/src/register.ts';
import { serveFunctions } from '../../infra/local/function-host.ts';
import { chaosPublisher } from './chaos-publisher.ts';
import { chaosStore } from './chaos-store.ts';
import { type EntryMessage, entrySettingsSchema } from './entry-settings.ts';
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
const config = parseConfig(process.env);
const clock = fastClock(settings);
const random = createRandom(settings.seed);
const tell = (message: EntryMessage): void => void process.send?.(message);

const ownNeeds = new Set<string>();
const store = chaosStore(
  createFirestoreDocumentStore({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    databaseId: config.FIRESTORE_DATABASE,
    deadlineMs: config.STORE_DEADLINE_MS,
  }),
  { settings, random, clock, tell, onNeed: (requestId) => ownNeeds.add(requestId) },
);
const publisher = chaosPublisher(
  createPubSubEventPublisher({
    projectId: config.GOOGLE_CLOUD_PROJECT,
    topicIds: { compaction: config.COMPACTION_TOPIC, events: config.EVENTS_TOPIC },
    deadlineMs: config.PUBLISH_DEADLINE_MS,
  }),
  { settings, random, tell, takeOwnNeed: (requestId) => ownNeeds.delete(requestId) },
);

const shutdown = new AbortController();
const functions = registerFunctions(
  createDependencies(config, { store, publisher, clock, shutdown: shutdown.signal }),
);
endOnSignal(process, () => {
  shutdown.abort();
  return functions.drain();
});
await serveFunctions([{ target, port: Number(port) }]);
