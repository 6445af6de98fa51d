import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { chooseFreePort } from '#infra/local/processes/free-port.ts';
import {
  createTopic,
  createTopicAndPushSubscription,
  listensToEvents,
} from '#infra/local/stack/pubsub-setup.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { firestoreEmulatorHost, pubsubEmulatorHost } from './emulator-environment.ts';
import { forkHeld } from './held-process.ts';

const workerScript = fileURLToPath(new URL('held-worker.ts', import.meta.url));

interface Worker {
  /** Resolves when the crash point is reached. */
  held: Promise<unknown>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

/** Chat in this process, the worker as a process of its own, real emulators between them. */
export interface EmulatorStack {
  chat: ChatDependencies;
  fakeGemini: Awaited<ReturnType<typeof startFakeGemini>>;
  startWorker(holdAt?: string): Promise<Worker>;
  stop(): Promise<void>;
}

async function forkWorker(
  port: number,
  { holdAt, environment }: { holdAt: string; environment: NodeJS.ProcessEnv },
): Promise<Worker> {
  const { promise: held, resolve: onReached } = Promise.withResolvers<unknown>();
  const script = { arguments: [String(port), holdAt], environment, onReached };
  const { kill } = await forkHeld(workerScript, script);
  return { held, kill };
}

const silent = { logger: { log: () => undefined } };

/** Topics of its own per stack, so that tests do not hear each other. */
export async function startEmulatorStack(
  settings: Record<string, string> = {},
): Promise<EmulatorStack> {
  const name = randomUUID();
  const fakeGemini = await startFakeGemini();
  const port = await chooseFreePort(0, new Set());
  const environment = stackEnvironment({
    shell: process.env,
    model: { kind: 'stand-in' },
    fakeGeminiUrl: fakeGemini.url,
    emulators: { firestoreHost: firestoreEmulatorHost(), pubsubHost: pubsubEmulatorHost() },
    settings: {
      COMPACTION_TOPIC: `compaction-${name}`,
      EVENTS_TOPIC: `events-${name}`,
      FCM_URL: fakeGemini.url,
      // Prompts are compared with what was sent.
      TELL_TIME: 'with-context',
      ...settings,
    },
  });
  const place = { pubsubHost: pubsubEmulatorHost(), projectId: 'demo-recap' };
  const subscribe = (topicId: string) =>
    createTopicAndPushSubscription({
      ...place,
      topicId,
      subscriptionId: topicId,
      pushEndpoint: `http://127.0.0.1:${port}`,
      ackDeadlineSeconds: 10,
      minBackoffSeconds: 1,
      maxBackoffSeconds: 2,
    });
  await subscribe(`compaction-${name}`);
  if (listensToEvents(environment)) await subscribe(`events-${name}`);
  else await createTopic(place, `events-${name}`);
  const workers: Worker[] = [];
  const chat = await createDependencies(localConfig(environment), silent).chat();
  return {
    chat,
    fakeGemini,
    startWorker: async (holdAt = '') => {
      const worker = await forkWorker(port, { holdAt, environment });
      workers.push(worker);
      return worker;
    },
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.kill()));
      await fakeGemini.close();
    },
  };
}
