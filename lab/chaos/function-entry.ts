import { subscribe } from 'node:diagnostics_channel';
import { type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { z } from 'zod';
import { createDatabaseClock, onceTimeIsKnown } from '#functions/adapters/clocks.ts';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore.ts';
import { createIdTokenVerifier, createPushTokenVerifier } from '#functions/adapters/tokens.ts';
import { createPubSubEventPublisher } from '#functions/adapters/pubsub.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { endOnSignal } from '#functions/bootstrap/end-on-signal.ts';
import { registerFunctions } from '#functions/bootstrap/register.ts';
import { serveFunctions } from '#infra/local/stack/function-host.ts';
import { requestPlacesPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Clock, DocumentStore, EventPublisher } from '#shared/ports/ports.ts';
import { createShiftedClock } from '#test/fakes/manual-clock.ts';
import { type EntryMessage, entrySettingsSchema } from './function-process.ts';
import { createRandom } from './random.ts';

/**
 * A function as a process of a chaos run: the functions as they ship, behind a store and a publisher that
 * have faults. Arguments: `chat` or `compaction`, the port, the settings as JSON.
 */
const [target, port, settingsJson] = process.argv.slice(2);
if (target !== 'chat' && target !== 'compaction')
  throw new Error(`expected chat or compaction, not ${JSON.stringify(target)}`);

/** Longer than the lease of 60 s: when the worker comes back, another may have done its work. */
const SHORTEST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 240_000;

const settings = entrySettingsSchema.parse(JSON.parse(settingsJson ?? ''));
const config = localConfig(process.env);
const random = createRandom(settings.seed);
const tell = (message: EntryMessage): void => void process.send?.(message);

const time = createDatabaseClock(createShiftedClock(settings.skewMs));

/**
 * Has run `timeScale` times as fast as the database's time since the run began: leases, back-offs and the sweep keep
 * the lengths that they have in production, and a run of minutes meets hours of them.
 */
const clock: Clock = {
  now: () => {
    const sinceStartMs = time.now().getTime() - settings.startedAtMs;
    return new Date(settings.startedAtMs + sinceStartMs * settings.timeScale);
  },
  wait: (ms, signal) => time.wait(ms / settings.timeScale, signal),
};

/** What the service asks to wait is said in its time; phones and apps live in ours. */
subscribe('http.server.response.created', (message) => {
  const { response } = z.object({ response: z.instanceof(ServerResponse) }).parse(message);
  const writeHead = response.writeHead.bind(response);
  const writeInOurTime = (status: number, headers: OutgoingHttpHeaders = {}) => {
    const seconds = Number(headers['retry-after'] ?? Number.NaN) / settings.timeScale;
    return writeHead(status, {
      ...headers,
      ...(Number.isFinite(seconds) && { 'retry-after': String(seconds) }),
    });
  };
  Object.assign(response, { writeHead: writeInOurTime });
});

const firestore = createFirestoreDocumentStore({
  projectId: config.GOOGLE_CLOUD_PROJECT,
  databaseId: config.FIRESTORE_DATABASE,
  deadlineMs: config.STORE_DEADLINE_MS,
  clock: time,
});

const madeSchema = z.looseObject({ generation: z.number(), by: z.string() });

/** Some swaps stand still before they are committed. Every generation that was made is told. */
const store: DocumentStore = {
  ...firestore,
  async commit(writes) {
    const history = writes.find(
      (write) => write.op === 'create' && write.path.includes('/histories/'),
    );
    if (history && random.chance(settings.pausedSwapShare)) {
      tell({ kind: 'fault', name: 'paused swap' });
      await clock.wait(random.integer(SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS));
    }
    const times = await firestore.commit(writes);
    if (history?.op === 'create') {
      const conversationId = history.path.split('/')[1] ?? '';
      tell({ kind: 'generation', conversationId, ...madeSchema.parse(history.fields) });
    }
    return times;
  },
};

const pubsub = createPubSubEventPublisher({
  projectId: config.GOOGLE_CLOUD_PROJECT,
  topicIds: { compaction: config.COMPACTION_TOPIC, events: config.EVENTS_TOPIC },
  deadlineMs: config.PUBLISH_DEADLINE_MS,
});

/** Loses a share of the requests for compaction: half of them without a word, half with an error. */
const publisher: EventPublisher = {
  async publish(event) {
    const isRequest = event.topic === 'compaction' && 'requestId' in event.data;
    if (!isRequest || !random.chance(settings.lostPublishShare)) return pubsub.publish(event);
    tell({ kind: 'fault', name: 'lost publish' });
    if (random.chance(0.5)) return;
    throw new AppError({
      status: 'UNAVAILABLE',
      reason: 'EVENT_BUS_UNAVAILABLE',
      message: 'the chaos run refused an event',
      publicMessage: 'The service is busy. Try again in a moment.',
    });
  },
};

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
