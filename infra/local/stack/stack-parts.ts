import { sweepEvent } from '#shared/compaction/event.ts';
import { type Emulators, type MissingEmulators, startEmulators } from '../emulators.ts';
import { type Child, startChild } from '../processes/child-process.ts';
import { startSweepSchedule, type SweepSchedule } from '../sweep-schedule.ts';
import {
  createTopic,
  createTopicAndPushSubscription,
  deployedPushSettings,
  listensToEvents,
  publishEvent,
  type PushSettings,
} from './pubsub-setup.ts';
import { localProjectId } from './stack-environment.ts';
import { type PartName, type StackLog, timedStep } from './stack-event.ts';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';

export interface StackPorts {
  chat: number;
  compaction: number;
  fakeGemini: number;
  page: number;
  supervisor: number;
  /** Of the store in memory, where the functions are processes of their own beside it. */
  store: number;
  /** Of the line to chat that the supervisor can cut. */
  line: number;
}

/** What every part is started with. */
export interface PartSettings {
  ports: StackPorts;
  environment: Readonly<Record<string, string | undefined>>;
  fakeGeminiArguments: readonly string[];
  push: Partial<PushSettings>;
  /** 0: no sweep. */
  sweepSeconds: number;
  log: StackLog;
}

const STORE_TOKEN_BYTES = 32;

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

export const localUrl = (port: number): string => `http://127.0.0.1:${port}`;

interface Part {
  name: PartName;
  title: string;
  command: readonly string[];
  readyUrl: string;
}

function startPart(
  { environment, log }: PartSettings,
  { name: part, title, command, readyUrl }: Part,
): Promise<Child> {
  return timedStep(log, { part, title }, () =>
    startChild({ part, command, readyUrl, environment, log }),
  );
}

/** A function as a process of its own, served by a script of this folder. */
function functionPart(name: 'chat' | 'compaction', { ports }: PartSettings, script: string): Part {
  const url = localUrl(ports[name]);
  return {
    name,
    title: `${name} function`,
    command: [pathOf(script), `${name}=${ports[name]}`],
    // A GET is no push: any answer but a failure shows that compaction is loaded.
    readyUrl: name === 'chat' ? `${url}/v1/health` : url,
  };
}

export function startFakeGeminiPart(settings: PartSettings): Promise<Child> {
  const { fakeGemini: port } = settings.ports;
  return startPart(settings, {
    name: 'stand-in',
    title: 'stand-in for Gemini',
    command: [
      pathOf('../../fake-gemini/server/main.ts'),
      '--port',
      `${port}`,
      ...settings.fakeGeminiArguments,
    ],
    readyUrl: `${localUrl(port)}/control/faults`,
  });
}

/** Chat or compaction over the emulators. */
export const startFunctionPart = (
  name: 'chat' | 'compaction',
  settings: PartSettings,
): Promise<Child> => startPart(settings, functionPart(name, settings, 'function-host.ts'));

/** Chat and compaction in one process, over a store and a bus in memory. */
export function startEmbeddedPart(settings: PartSettings): Promise<Child> {
  const { chat, compaction } = settings.ports;
  return startPart(settings, {
    name: 'functions',
    title: 'chat and compaction functions',
    command: [
      pathOf('../embedded/main.ts'),
      `--chat-port=${chat}`,
      `--compaction-port=${compaction}`,
      `--push=${JSON.stringify(settings.push)}`,
      `--sweep-seconds=${settings.sweepSeconds}`,
    ],
    readyUrl: `${localUrl(chat)}/v1/health`,
  });
}

/**
 * Store and bus in memory, and each function as a process of its own over them: either can be killed, and nothing is
 * lost with it.
 */
export function startSplitParts(settings: PartSettings): [PartName, Promise<Child>][] {
  const { compaction, store } = settings.ports;
  const token = randomBytes(STORE_TOKEN_BYTES).toString('base64url');
  const environment = {
    ...settings.environment,
    RECAP_STORE_URL: localUrl(store),
    RECAP_STORE_TOKEN: token,
  };
  const storePart: Part = {
    name: 'store',
    title: 'store and bus in memory',
    command: [
      pathOf('../embedded/store-main.ts'),
      `--port=${store}`,
      `--compaction-url=${localUrl(compaction)}/`,
      `--push=${JSON.stringify(settings.push)}`,
      `--sweep-seconds=${settings.sweepSeconds}`,
    ],
    // Without the token it refuses, which shows that it is there.
    readyUrl: localUrl(store),
  };
  const script = '../embedded/function-main.ts';
  const functions = (['chat', 'compaction'] as const).map((name) =>
    functionPart(name, settings, script),
  );
  return [storePart, ...functions].map((part) => [
    part.name,
    startPart({ ...settings, environment }, part),
  ]);
}

export function startEmulatorParts(log: StackLog): Promise<Emulators | MissingEmulators> {
  const step = { part: 'emulators', title: 'Firestore and Pub/Sub emulators' } as const;
  return timedStep(log, step, () =>
    startEmulators({
      log: (text) => log({ kind: 'note', text }),
      rulesFile: pathOf('../../firestore/firestore.rules'),
    }),
  );
}

const workerTopicId = ({ environment }: PartSettings) =>
  environment.COMPACTION_TOPIC ?? 'recap-compaction';

/** Publishes the sweep event to the emulator, as Cloud Scheduler does in production. */
export function scheduleSweep(settings: PartSettings, pubsubHost: string): SweepSchedule {
  const place = { pubsubHost, projectId: localProjectId };
  return startSweepSchedule({
    everySeconds: settings.sweepSeconds,
    publish: () => publishEvent(place, workerTopicId(settings), sweepEvent),
    onFailure: () => settings.log({ kind: 'note', text: 'the sweep event was not published' }),
  });
}

/** The compaction topic and, where somebody is to be told of events, theirs: pushed to the worker, with dead letters. */
export async function subscribeWorker(settings: PartSettings, pubsubHost: string): Promise<void> {
  const { EVENTS_TOPIC: eventsTopicId = 'recap-events' } = settings.environment;
  const place = { pubsubHost, projectId: localProjectId };
  const subscribe = (topicId: string) =>
    createTopicAndPushSubscription({
      ...place,
      topicId,
      subscriptionId: topicId,
      pushEndpoint: `${localUrl(settings.ports.compaction)}/`,
      deadLetterTopicId: `${topicId}-dead`,
      ...deployedPushSettings,
      ...settings.push,
    });
  const step = { part: 'subscriptions', title: 'topics and push subscriptions' } as const;
  await timedStep(settings.log, step, async () => {
    await Promise.all([
      listensToEvents(settings.environment)
        ? subscribe(eventsTopicId)
        : createTopic(place, eventsTopicId),
      subscribe(workerTopicId(settings)),
    ]);
  });
}
