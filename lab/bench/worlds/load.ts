import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { startEmulators } from '#infra/local/emulators.ts';
import {
  createTopic,
  createTopicAndPushSubscription,
  publishEvent,
} from '#infra/local/stack/pubsub-setup.ts';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { requestEvent } from '#shared/compaction/event.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { useOf } from '../hosts/process-use.ts';
import { type Host, startHost, startFakeGeminiHost } from '../hosts/start-host.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const TOPIC = 'recap-compaction';
const PUBLISHED_AT_ONCE = 20;
const POLL_MS = 250;

/** Where a host's script is. */
export const scriptOf = (name: string) =>
  fileURLToPath(new URL(`../hosts/${name}.ts`, import.meta.url));

const figuresSchema = z.object({
  compacted: z.number(),
  acknowledged: z.number(),
  refused: z.number(),
  reads: z.number(),
  commits: z.number(),
  writes: z.number(),
  cpuMs: z.number(),
});
/** What the worker did so far: conversations, pushes, documents and batches, and its processor time. */
export type WorkerFigures = z.infer<typeof figuresSchema>;

/** Chat, one worker and the model, each a process of its own, on the Firestore and Pub/Sub emulators. */
export interface LoadWorld {
  chatUrl: string;
  store: DocumentStore;
  /** Publishes the needs of conversations, twenty at a time. */
  publish(conversationIds: readonly string[]): Promise<void>;
  figures(): Promise<WorkerFigures>;
  /** Processor time of the fake Gemini, and of chat, ms. */
  modelCpuMs(): Promise<number>;
  chatCpuMs(): Promise<number>;
  /** Holds the worker where it is, and lets it go on. */
  pauseWorker(): void;
  resumeWorker(): void;
  close(): Promise<void>;
}

const emulatorVariables = ['FIRESTORE_EMULATOR_HOST', 'PUBSUB_EMULATOR_HOST'] as const;

/** The hosts, and Google's client here, find the emulators by their environment. Returns what takes that back. */
function setEmulators(hosts: { firestoreHost: string; pubsubHost: string }): () => void {
  const before = emulatorVariables.map((name) => [name, process.env[name]] as const);
  process.env['FIRESTORE_EMULATOR_HOST'] = hosts.firestoreHost;
  process.env['PUBSUB_EMULATOR_HOST'] = hosts.pubsubHost;
  process.env['METADATA_SERVER_DETECTION'] = 'none';
  return () => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  };
}

const getJson = async (url: string): Promise<unknown> => (await fetch(url)).json();

async function publishAll(pubsubHost: string, ids: readonly string[]): Promise<void> {
  const place = { pubsubHost, projectId: localProjectId };
  const waiting = ids.values();
  const lane = async () => {
    for (const conversationId of waiting)
      await publishEvent(place, TOPIC, requestEvent({ conversationId, requestId: 'request-1' }));
  };
  await Promise.all(Array.from({ length: PUBLISHED_AT_ONCE }, lane));
}

/** Holds a process where it is, and lets it go on. */
export const pausing = ({ processId }: Host) => ({
  pause: () => void process.kill(processId, 'SIGSTOP'),
  resume: () => void process.kill(processId, 'SIGCONT'),
});

/** Starts all of it. Throws Error where no emulators are installed, with how to get them. */
export async function startLoadWorld(): Promise<LoadWorld> {
  const emulators = await startEmulators({ log: () => undefined });
  if ('missing' in emulators) throw new Error(emulators.missing);
  const { pubsubHost } = emulators;
  const resetEmulators = setEmulators(emulators);
  const fakeGemini = await startFakeGeminiHost();
  const [worker, chat]: Host[] = await Promise.all(
    ['queue-worker', 'chat-instance'].map((name) => startHost(scriptOf(name), [fakeGemini.url])),
  );
  if (!worker || !chat) throw new Error('a host is missing');
  const place = { pubsubHost, projectId: localProjectId };
  await createTopic(place, 'recap-events');
  await createTopicAndPushSubscription({
    ...place,
    topicId: TOPIC,
    subscriptionId: TOPIC,
    pushEndpoint: `${worker.url}/`,
    ackDeadlineSeconds: 600,
    // The emulator waits in whole seconds; deployed it is 10 to 600.
    minBackoffSeconds: 1,
    maxBackoffSeconds: 10,
  });
  return {
    chatUrl: chat.url,
    store: createFirestoreDocumentStore({ projectId: localProjectId, deadlineMs: 30_000 }),
    publish: (ids) => publishAll(pubsubHost, ids),
    figures: async () => figuresSchema.parse(await getJson(worker.url)),
    modelCpuMs: async () => (await useOf(fakeGemini.processId)).cpuMs,
    chatCpuMs: async () => (await useOf(chat.processId)).cpuMs,
    pauseWorker: pausing(worker).pause,
    resumeWorker: pausing(worker).resume,
    close: async () => {
      await Promise.all([worker.close(), chat.close(), fakeGemini.close()]);
      await emulators.stop();
      resetEmulators();
    },
  };
}

/** Resolves when the worker has acknowledged so many pushes, or after `mostMs`. */
export async function untilAcknowledged(
  world: LoadWorld,
  pushes: number,
  mostMs: number,
): Promise<void> {
  const endMs = performance.now() + mostMs;
  while (performance.now() < endMs) {
    if ((await world.figures()).acknowledged >= pushes) return;
    await delay(POLL_MS);
  }
}
