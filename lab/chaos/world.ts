import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { startEmulators } from '#infra/local/emulators.ts';
import { chooseFreePort } from '#infra/local/processes/open-server.ts';
import {
  createTopic,
  createTopicAndPushSubscription,
  publishEvent,
} from '#infra/local/stack/pubsub-setup.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { sweepEvent } from '#shared/compaction/event.ts';
import {
  createFunctionProcess,
  type EntrySettings,
  type FunctionProcess,
} from './function-process.ts';
import { startProxy } from './proxies.ts';
import { createRandom } from './random.ts';
import type { Tally } from './report.ts';
import { randomUUID } from 'node:crypto';

const PROCESSES_PER_FUNCTION = 2;
const TOPIC = 'chaos-compaction';
const EVENTS_TOPIC = 'chaos-events';

const DAY_MS = 24 * 60 * 60_000;
/** Machines are slow by a day, right, or fast by a day; each start is on another one. */
const SKEWS_MS = [-DAY_MS, 0, DAY_MS];

/** What all processes of a run are started with. */
type RunSettings = Omit<EntrySettings, 'skewMs'>;

/** Everything that a chaos run is made of, all of it running. */
export type ChaosWorld = Awaited<ReturnType<typeof startChaosWorld>>;

interface WorldOptions {
  settings: RunSettings;
  tally: Tally;
  /** THRESHOLD_TOKENS of the deployment. */
  thresholdTokens: number;
  onLine: (line: string) => void;
}

/** A proxy before a server at `host:port`. */
function startProxyBefore(target: string) {
  const { hostname, port } = new URL(`tcp://${target}`);
  return startProxy(hostname, [Number(port)]);
}

async function startServices() {
  const emulators = await startEmulators({ log: () => undefined });
  if ('missing' in emulators) throw new Error(emulators.missing);
  const [fakeGemini, firestoreProxy, pubsubProxy] = await Promise.all([
    startFakeGemini(),
    startProxyBefore(emulators.firestoreHost),
    startProxyBefore(emulators.pubsubHost),
  ]);
  fakeGemini.setTiming({ timeToFirstTokenMs: 30, tokensPerSecond: 300 });
  return { emulators, fakeGemini, firestoreProxy, pubsubProxy };
}

type Services = Awaited<ReturnType<typeof startServices>>;

const environmentOf = (services: Services, input: { projectId: string; thresholdTokens: number }) =>
  stackEnvironment({
    shell: process.env,
    model: { kind: 'fake-gemini' },
    fakeGeminiUrl: services.fakeGemini.url,
    emulators: {
      firestoreHost: services.firestoreProxy.host,
      pubsubHost: services.pubsubProxy.host,
    },
    settings: {
      GOOGLE_CLOUD_PROJECT: input.projectId,
      COMPACTION_TOPIC: TOPIC,
      EVENTS_TOPIC,
      THRESHOLD_TOKENS: String(input.thresholdTokens),
      // Prompts are compared with what was sent.
      TELL_TIME: 'with-context',
      // Bursts of messages meet them. A minute is one of the functions' clock.
      USER_REQUESTS_PER_MINUTE: '20',
      STREAMS_PER_USER: '8',
      // These two run on the real clock, unlike the leases.
      MODEL_FIRST_EVENT_TIMEOUT_MS: '2000',
      MODEL_IDLE_TIMEOUT_MS: '1500',
      STORE_DEADLINE_MS: '5000',
    },
  });

async function createProcesses(
  options: WorldOptions,
  environment: Readonly<Record<string, string | undefined>>,
) {
  const reserved = new Set<number>();
  const create = async (target: 'chat' | 'compaction') => {
    const port = await chooseFreePort(0, reserved);
    return {
      port,
      process: createFunctionProcess({
        target,
        port,
        environment,
        onMessage: options.tally.hear,
        onLine: (line) => {
          options.tally.readLine(line);
          options.onLine(line);
        },
        onCrash: (how) => options.tally.crashes.push(how),
      }),
    };
  };
  const several = (target: 'chat' | 'compaction') =>
    Promise.all(Array.from({ length: PROCESSES_PER_FUNCTION }, () => create(target)));
  return { chats: await several('chat'), workers: await several('compaction') };
}

const frontOf = (processes: readonly { port: number }[]) =>
  startProxy(
    '127.0.0.1',
    processes.map(({ port }) => port),
  );

async function createTopics(
  place: { pubsubHost: string; projectId: string },
  pushEndpoint: string,
): Promise<void> {
  await Promise.all([
    createTopic(place, EVENTS_TOPIC),
    createTopicAndPushSubscription({
      ...place,
      topicId: TOPIC,
      subscriptionId: TOPIC,
      pushEndpoint,
      ackDeadlineSeconds: 10,
      minBackoffSeconds: 1,
      maxBackoffSeconds: 5,
      deadLetterTopicId: `${TOPIC}-dead`,
      maxDeliveryAttempts: 8,
    }),
  ]);
}

/** Starts emulators, proxies, fake Gemini, topics and four function processes, in a project of its own. */
export async function startChaosWorld(options: WorldOptions) {
  const projectId = `demo-chaos-${randomUUID().slice(0, 8)}`;
  const services = await startServices();
  const { emulators, fakeGemini, firestoreProxy, pubsubProxy } = services;
  const environment = environmentOf(services, { ...options, projectId });
  const { chats, workers } = await createProcesses(options, environment);
  const [chatFront, workerFront] = await Promise.all([frontOf(chats), frontOf(workers)]);
  const place = { pubsubHost: emulators.pubsubHost, projectId };
  await createTopics(place, `${workerFront.url}/`);
  const processes = [...chats, ...workers].map((each) => each.process);
  let { settings } = options;
  let starts = 0;
  const world = {
    projectId,
    fakeGemini,
    /** Of a load balancer before the two chat processes. */
    chatUrl: chatFront.url,
    /** The chat processes themselves, past it. */
    chatUrls: chats.map(({ port }) => `http://127.0.0.1:${port}`),
    firestoreProxy,
    pubsubProxy,
    processes,
    /** The emulator itself, past the proxy. */
    firestoreHost: emulators.firestoreHost,
    /** Starts a process with the settings of now. */
    start: (process: FunctionProcess) => {
      const seed = `${settings.seed}/${process.name}/${(starts += 1)}`;
      const skewMs = createRandom(`${seed}/skew`).pick(SKEWS_MS);
      if (skewMs !== 0) options.tally.countFault('clock wrong by a day');
      return process.start({ ...settings, seed, skewMs });
    },
    /** Processes that are started from now on have no faults of their own. */
    calm: () => {
      settings = { ...settings, pausedSwapShare: 0, lostPublishShare: 0 };
    },
    /** What the scheduler does every few minutes. Never throws: the next one comes. */
    publishSweep: () => publishEvent(place, TOPIC, sweepEvent).catch(() => undefined),
    stop: async () => {
      await Promise.all(processes.map((process) => process.kill()));
      const fronts = [chatFront, workerFront, firestoreProxy, pubsubProxy];
      await Promise.all(fronts.map((front) => front.stop()));
      await fakeGemini.close();
      await emulators.stop();
    },
  };
  try {
    await Promise.all(processes.map((process) => world.start(process)));
  } catch (error) {
    await world.stop();
    throw error;
  }
  return world;
}
