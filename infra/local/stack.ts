import type { Child } from './child-process.ts';
import type { Emulators, MissingEmulators } from './emulators.ts';
import { chooseFreePort } from './free-port.ts';
import type { PushSettings } from './push-settings.ts';
import {
  chooseModel,
  localProjectId,
  openVariables,
  type ModelChoice,
  stackEnvironment,
} from './stack-environment.ts';
import type { PartName, StackLog } from './stack-event.ts';
import { pageEnvironment, type StackPage, startStackPage } from './stack-page.ts';
import {
  localUrl,
  type PartSettings,
  scheduleSweep,
  type StackPorts,
  startChatPart,
  startCompactionPart,
  startEmbeddedPart,
  startEmulatorParts,
  startSplitParts,
  startStandInPart,
  subscribeWorker,
} from './stack-parts.ts';
import { type LocalStorage, startStorage } from './storage/start-storage.ts';
import { defaultSweepSeconds } from './sweep-schedule.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface StackOptions {
  /** Store and bus in memory, even where emulators are installed. */
  embedded?: boolean;
  /** Wanted ports; one that is taken is replaced by the next free one. Default: any free ones. */
  ports?: Partial<StackPorts>;
  /** Arguments of the stand-in process, e.g. `['--tokens-per-second', '80']`. */
  standInArguments?: readonly string[];
  /** Variables of the functions that differ from the local defaults. */
  environment?: Environment;
  push?: Partial<PushSettings>;
  /** Whether the page is served. Default false. */
  hasPage?: boolean;
  /** Whether the page can order faults. Default false. */
  hasSupervisor?: boolean;
  /** How often the sweep event is published; 0 = never. Default 300. */
  sweepSeconds?: number;
  /** The user's environment. Default: that of this process. */
  shell?: Environment;
  log: StackLog;
}

/** What can be restarted by itself; in the embedded mode without a supervisor both functions are one process. */
export type RestartablePart = 'chat' | 'compaction' | 'functions' | 'stand-in';

export interface Stack {
  chatUrl: string;
  compactionUrl: string;
  /** Absent where no page was asked for. */
  pageUrl?: string;
  /** Where faults are ordered, with the token of this start; absent where that was not asked for. */
  supervisor?: { url: string; token: string };
  /** Absent when a real model answers. */
  standInUrl?: string | undefined;
  /** Absent in the embedded mode. */
  firestoreHost?: string;
  projectId: string;
  /** The variables of the functions that say where things are and how much is compacted; no secrets. */
  variables: Readonly<Record<string, string>>;
  /** What holds the data, for people. */
  backend: string;
  /** Who answers, for people. */
  model: string;
  processIds(): { part: PartName; processId: number }[];
  /** Kills a part (SIGKILL) and resolves when it is there again, on the same port. */
  restart(part: RestartablePart): Promise<void>;
  /** Ends every process that was started; resolves when they are gone and the ports free. */
  stop(): Promise<void>;
}

/** Notifications go to the stand-in of FCM, where there is one. */
const messagingOf = (standInUrl: string | undefined): Environment =>
  standInUrl === undefined ? {} : { FCM_PROJECT: localProjectId, FCM_URL: standInUrl };

/** The bucket of uploads, as its name is on this machine. */
const LOCAL_BUCKET = 'recap-uploads';

const uploadsOf = ({ url }: LocalStorage): Environment => ({
  UPLOADS_BUCKET: LOCAL_BUCKET,
  UPLOADS_URL: url,
});

type Children = Map<PartName, Child>;

async function choosePorts({ ports, log }: StackOptions): Promise<StackPorts> {
  const reserved = new Set<number>();
  const choose = async (part: PartName, wantedPort = 0): Promise<number> => {
    const usedPort = await chooseFreePort(wantedPort, reserved);
    if (wantedPort !== 0 && usedPort !== wantedPort)
      log({ kind: 'port-taken', part, wantedPort, usedPort });
    return usedPort;
  };
  return {
    chat: await choose('chat', ports?.chat),
    compaction: await choose('compaction', ports?.compaction),
    standIn: await choose('stand-in', ports?.standIn),
    page: await choose('page', ports?.page),
    supervisor: await choose('supervisor', ports?.supervisor),
    line: await choose('supervisor', ports?.line),
    store: await choose('store', ports?.store),
  };
}

/** What can be asked of the processes, also before they are there. */
const runningParts = (children: () => Children): Pick<Stack, 'processIds' | 'restart'> => ({
  processIds: () =>
    [...children()].map(([part, child]) => ({ part, processId: child.processId() ?? 0 })),
  restart: async (part) => {
    const child = children().get(part);
    if (!child) throw new Error(`the stack has no part ${part}`);
    await child.restart();
  },
});

/** The functions first: an answer that is under way shall not fail because its model has gone. */
async function stopAll(children: Children): Promise<void> {
  const standIn = children.get('stand-in');
  const functions = [...children.values()].filter((child) => child !== standIn);
  await Promise.all(functions.map((child) => child.stop()));
  await standIn?.stop();
}

/** Waits for every start; when one failed, stops what did start and throws what the first one threw. */
async function allOrNone(
  starts: readonly (readonly [PartName, Promise<Child | undefined>])[],
): Promise<Children> {
  const children: Children = new Map();
  const results = await Promise.allSettled(
    starts.map(async ([part, start]) => {
      const child = await start;
      if (child) children.set(part, child);
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (!failed) return children;
  await stopAll(children);
  throw failed.reason;
}

function backendName(emulators: Emulators | MissingEmulators, isAsked: boolean): string {
  if (!('missing' in emulators)) return `Firestore and Pub/Sub emulators (${emulators.source})`;
  const why = isAsked ? 'as asked' : `no emulator found: ${emulators.missing}`;
  return `embedded in-memory store and bus (${why}); what is stored ends with it`;
}

function modelName(model: ModelChoice): string {
  switch (model.kind) {
    case 'stand-in':
      return 'stand-in for Gemini (set GEMINI_API_KEY for the real one)';
    case 'gemini':
      return 'Gemini API, with the GEMINI_API_KEY of this shell';
    case 'vertex':
      return `Vertex AI in ${model.project} (${model.location}), with the credentials of this shell`;
  }
}

const hasEmulators = (emulators: Emulators | MissingEmulators): emulators is Emulators =>
  !('missing' in emulators);

function watchEmulators(emulators: Emulators | MissingEmulators, log: StackLog): void {
  if ('missing' in emulators) return;
  void emulators.crashed.then((output) =>
    log({ kind: 'lost', part: 'emulators', lastLines: output.split('\n').slice(-20) }),
  );
}

/** Once the functions are there, which everybody waits for. */
function buildInBackground(page: StackPage, log: StackLog): void {
  page
    .build()
    .catch((error: unknown) =>
      log({ kind: 'note', text: `the page was not built: ${String(error)}` }),
    );
}

/**
 * Starts chat, compaction, the stand-in and the emulators side by side, and resolves when all of them
 * answer. Without emulators, or on demand, both functions run in one process over a store and a bus in
 * memory; with a supervisor each has a process of its own. When a part does not start, the others are stopped again and its error is thrown.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { log, environment, standInArguments = [], push = {} } = options;
  const { sweepSeconds = defaultSweepSeconds, hasSupervisor = false } = options;
  const shell = options.shell ?? process.env;
  const model = chooseModel(shell);
  const ports = await choosePorts(options);
  const storage = await startStorage({ bucket: LOCAL_BUCKET });
  const standInUrl = model.kind === 'stand-in' ? localUrl(ports.standIn) : undefined;
  let children: Children = new Map();
  const chatUrl = localUrl(ports.chat);
  const compactionUrl = localUrl(ports.compaction);
  const functions = { chatUrl, compactionUrl, standInUrl, ...runningParts(() => children) };
  const page = options.hasPage
    ? await startStackPage({ ports, hasSupervisor, stack: functions, log })
    : undefined;
  const settingsWith = (emulators?: Emulators): PartSettings => ({
    ports,
    environment: stackEnvironment({
      shell,
      model,
      standInUrl,
      emulators,
      settings: {
        ...messagingOf(standInUrl),
        ...uploadsOf(storage),
        ...(page && pageEnvironment(shell, ports.page)),
        ...environment,
      },
    }),
    standInArguments,
    push,
    sweepSeconds,
    log,
  });

  const standIn = standInUrl ? startStandInPart(settingsWith()) : Promise.resolve(undefined);
  const emulators = options.embedded ? { missing: '' } : await startEmulatorParts(log);
  children = await allOrNone([
    ['stand-in', standIn],
    ...('missing' in emulators
      ? startEmbedded(settingsWith(), hasSupervisor)
      : startEmulated(settingsWith(emulators), emulators)),
  ]).catch(async (error: unknown) => {
    if (hasEmulators(emulators)) await emulators.stop();
    await storage.close();
    await page?.close();
    throw error;
  });
  watchEmulators(emulators, log);
  if (page) buildInBackground(page, log);
  const found = hasEmulators(emulators) ? emulators : undefined;
  // The embedded host has its own.
  const schedule = found && scheduleSweep(settingsWith(found), found.pubsubHost);
  return {
    ...functions,
    ...(page && { pageUrl: page.url }),
    ...(page?.supervisor && { supervisor: page.supervisor }),
    ...(hasEmulators(emulators) && { firestoreHost: emulators.firestoreHost }),
    projectId: localProjectId,
    variables: openVariables(settingsWith(found).environment),
    backend: backendName(emulators, options.embedded ?? false),
    model: modelName(model),
    stop: async () => {
      await schedule?.stop();
      await page?.close();
      await stopAll(children);
      await storage.close();
      if (hasEmulators(emulators)) await emulators.stop();
    },
  };
}

/** One process, unless parts of it are to be killed. */
const startEmbedded = (
  settings: PartSettings,
  isSplit: boolean,
): [PartName, Promise<Child | undefined>][] =>
  isSplit ? startSplitParts(settings) : [['functions', startEmbeddedPart(settings)]];

function startEmulated(
  settings: PartSettings,
  emulators: Emulators,
): [PartName, Promise<Child | undefined>][] {
  return [
    ['chat', startChatPart(settings)],
    ['compaction', startCompactionPart(settings)],
    ['subscriptions', subscribeWorker(settings, emulators.pubsubHost).then(() => undefined)],
  ];
}
