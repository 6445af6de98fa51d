import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { createCompactionHandler } from '#functions/worker/push/handle-push.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import {
  createTopic,
  createTopicAndPushSubscription,
  listensToEvents,
} from '#infra/local/stack/pubsub-setup.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { firestoreEmulatorHost, pubsubEmulatorHost } from './emulator-environment.ts';

/** Chat and worker in this process, real emulators between them. */
export interface EmulatorStack {
  chat: ChatDependencies;
  fakeGemini: Awaited<ReturnType<typeof startFakeGemini>>;
  stop(): Promise<void>;
}

const silent = { logger: { log: () => undefined } };

/** Topics of its own per stack, so that tests do not hear each other. */
export async function startEmulatorStack(
  settings: Record<string, string> = {},
): Promise<EmulatorStack> {
  const name = randomUUID();
  const fakeGemini = await startFakeGemini();
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
  const dependencies = createDependencies(localConfig(environment), silent);
  const [chat, worker] = await Promise.all([dependencies.chat(), dependencies.compaction()]);
  const handle = createCompactionHandler(worker);
  const { url, close } = await openServer(
    createServer((request, response) => void handle(request, response)),
  );
  const place = { pubsubHost: pubsubEmulatorHost(), projectId: 'demo-recap' };
  const subscribe = (topicId: string) =>
    createTopicAndPushSubscription({
      ...place,
      topicId,
      subscriptionId: topicId,
      pushEndpoint: url,
      ackDeadlineSeconds: 10,
      minBackoffSeconds: 1,
      maxBackoffSeconds: 2,
    });
  await subscribe(`compaction-${name}`);
  if (listensToEvents(environment)) await subscribe(`events-${name}`);
  else await createTopic(place, `events-${name}`);
  return {
    chat,
    fakeGemini,
    stop: async () => {
      await close();
      await fakeGemini.close();
    },
  };
}
