import { type Emulators, type MissingEmulators, startEmulators } from '#infra/local/emulators.ts';
import { type Child, startChild } from '#infra/local/processes/child-process.ts';
import { rulesPath, scriptPath } from '#infra/local/script-path.ts';
import { startSweepSchedule, type SweepSchedule } from '#infra/local/sweep-schedule.ts';
import { sweepEvent } from '#shared/compaction/event.ts';
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

export interface StackPorts {
  chat: number;
  compaction: number;
  fakeGemini: number;
  page: number;
}

/** What every part is started with. */
export interface PartSettings {
  ports: StackPorts;
  environment: Readonly<Record<string, string | undefined>>;
  push: Partial<PushSettings>;
  /** 0: no sweep. */
  sweepSeconds: number;
  /** Functions that do not start are left down until they are reloaded. */
  mayBeDown: boolean;
  log: StackLog;
}

/** The running processes of a stack. */
export type Children = Map<PartName, Child>;

/** A process that is to run. */
interface Part {
  name: PartName;
  title: string;
  /** Path of the script, and its arguments. */
  command: readonly string[];
  readyUrl: string;
}

export const localUrl = (port: number): string => `http://127.0.0.1:${port}`;

export const fakeGeminiPart = ({ ports: { fakeGemini: port } }: PartSettings): Part => ({
  name: 'fake-gemini',
  title: 'fake Gemini',
  command: [scriptPath('fake-gemini'), '--port', `${port}`],
  readyUrl: `${localUrl(port)}/control/faults`,
});

/** Chat or compaction over the emulators. */
export function functionPart(name: 'chat' | 'compaction', { ports }: PartSettings): Part {
  const url = localUrl(ports[name]);
  return {
    name,
    title: `${name} function`,
    command: [scriptPath('function'), `${name}=${ports[name]}`],
    // A GET is no push: any answer but a failure shows that compaction is loaded.
    readyUrl: name === 'chat' ? `${url}/v1/health` : url,
  };
}

/** Chat and compaction in one process, over a store and a bus in memory. */
export const embeddedPart = ({ ports, push, sweepSeconds }: PartSettings): Part => ({
  name: 'functions',
  title: 'chat and compaction functions',
  command: [scriptPath('embedded'), JSON.stringify({ ports, push, sweepSeconds })],
  readyUrl: `${localUrl(ports.chat)}/v1/health`,
});

/** Starts the parts side by side; those that run are in `children`. Throws what the first start that fails throws. */
export async function startParts(
  parts: readonly Part[],
  { environment, mayBeDown, log }: PartSettings,
  children: Children,
): Promise<void> {
  const starts = await Promise.allSettled(
    parts.map(async ({ name, title, command, readyUrl }) => {
      const isReady = (child: Child) => !child.isDown();
      const options = { part: name, command, readyUrl, environment, log };
      const child = await timedStep(log, { part: name, title, isReady }, () =>
        startChild({ ...options, mayBeDown: mayBeDown && name !== 'fake-gemini' }),
      );
      children.set(name, child);
    }),
  );
  for (const start of starts) if (start.status === 'rejected') throw start.reason;
}

export const functionsIn = (children: Children): Child[] =>
  [...children].flatMap(([name, child]) => (name === 'fake-gemini' ? [] : child));

/** Starts the functions anew, with what their sources and the environment say now. */
export const reloadFunctions = async (
  children: Children,
  environment: PartSettings['environment'],
): Promise<void> => {
  await Promise.all(functionsIn(children).map((child) => child.reload(environment)));
};

/** The functions first: an answer that is under way shall not fail because its model has gone. */
export async function stopParts(children: Children): Promise<void> {
  await Promise.all(functionsIn(children).map((child) => child.stop()));
  await children.get('fake-gemini')?.stop();
}

export function startEmulatorParts(log: StackLog): Promise<Emulators | MissingEmulators> {
  const step = { part: 'emulators', title: 'Firestore and Pub/Sub emulators' } as const;
  return timedStep(log, step, () =>
    startEmulators({
      log: (text) => log({ kind: 'note', text }),
      rulesFile: rulesPath,
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
