import type { Child } from '../processes/child-process.ts';
import type { Emulators } from '../emulators.ts';
import { chooseFreePort } from '../processes/free-port.ts';
import type { PushSettings } from './pubsub-setup.ts';
import {
  chooseModel,
  localProjectId,
  openVariables,
  stackEnvironment,
} from './stack-environment.ts';
import type { PartName, StackLog } from './stack-event.ts';
import { pageEnvironment, type StackPage, startStackPage } from './stack-page.ts';
import {
  localUrl,
  type PartSettings,
  scheduleSweep,
  type StackPorts,
  startEmbeddedPart,
  startEmulatorParts,
  startFunctionPart,
  startSplitParts,
  startFakeGeminiPart,
  subscribeWorker,
} from './stack-parts.ts';
import { allOrNone, type Children, runningParts, type Stack, stopAll } from './stack-children.ts';
import { backendName, modelName } from './stack-notes.ts';
import { listedOrigins } from '../processes/refuse-foreign.ts';
import { type LocalStorage, startStorage } from '../storage/start-storage.ts';
import { defaultSweepSeconds } from '../sweep-schedule.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface StackOptions {
  /** Store and bus in memory, even where emulators are installed. */
  embedded?: boolean;
  /** Wanted ports; one that is taken is replaced by the next free one. Default: any free ones. */
  ports?: Partial<StackPorts>;
  /** Arguments of the fake Gemini process, e.g. `['--tokens-per-second', '80']`. */
  fakeGeminiArguments?: readonly string[];
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

/** Notifications go to the fake of FCM, where there is one. */
const messagingOf = (fakeGeminiUrl: string | undefined): Environment =>
  fakeGeminiUrl === undefined ? {} : { FCM_PROJECT: localProjectId, FCM_URL: fakeGeminiUrl };

/** The bucket of uploads, as its name is on this machine. */
const LOCAL_BUCKET = 'recap-uploads';

/** The bucket of uploads, for the pages that may call chat. */
const startBucket = (environment: Environment) =>
  startStorage({ bucket: LOCAL_BUCKET, origins: listedOrigins(environment) });

const uploadsOf = ({ url }: LocalStorage): Environment => ({
  UPLOADS_BUCKET: LOCAL_BUCKET,
  UPLOADS_URL: url,
});

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
    fakeGemini: await choose('stand-in', ports?.fakeGemini),
    page: await choose('page', ports?.page),
    supervisor: await choose('supervisor', ports?.supervisor),
    line: await choose('supervisor', ports?.line),
    store: await choose('store', ports?.store),
  };
}

function watchEmulators({ crashed }: Emulators, log: StackLog): void {
  void crashed.then((output) =>
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

/** Starts what runs in this process, the bucket and the page; with it, what the parts are started with. */
async function startOwnParts(options: StackOptions, children: () => Children) {
  const { log, environment, hasSupervisor = false } = options;
  const shell = options.shell ?? process.env;
  const model = chooseModel(shell);
  const ports = await choosePorts(options);
  const storage = await startBucket({ ...shell, ...environment });
  const fakeGeminiUrl = model.kind === 'stand-in' ? localUrl(ports.fakeGemini) : undefined;
  const chatUrl = localUrl(ports.chat);
  const compactionUrl = localUrl(ports.compaction);
  const functions = { chatUrl, compactionUrl, fakeGeminiUrl, ...runningParts(children) };
  const page = options.hasPage
    ? await startStackPage({ ports, hasSupervisor, stack: functions, log })
    : undefined;
  const settings = {
    ...messagingOf(fakeGeminiUrl),
    ...uploadsOf(storage),
    ...(page && pageEnvironment(shell, ports.page)),
    ...environment,
  };
  const settingsWith = (emulators?: Emulators): PartSettings => ({
    ports,
    environment: stackEnvironment({ shell, model, fakeGeminiUrl, emulators, settings }),
    fakeGeminiArguments: options.fakeGeminiArguments ?? [],
    push: options.push ?? {},
    sweepSeconds: options.sweepSeconds ?? defaultSweepSeconds,
    log,
  });
  return { model, storage, functions, page, settingsWith };
}

/**
 * Starts chat, compaction, the fake Gemini and the emulators side by side, and resolves when all of them answer.
 * Without emulators, or on demand, both functions run in one process over a store and a bus in memory; with a
 * supervisor each has a process of its own. When a part does not start, the others are stopped again and its error is
 * thrown.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { log, embedded = false, hasSupervisor = false } = options;
  let children: Children = new Map();
  const own = await startOwnParts(options, () => children);
  const { functions, page, settingsWith } = own;
  const fakeGemini = functions.fakeGeminiUrl
    ? startFakeGeminiPart(settingsWith())
    : Promise.resolve(undefined);
  const emulators = embedded ? { missing: '' } : await startEmulatorParts(log);
  const found = 'missing' in emulators ? undefined : emulators;
  const settings = settingsWith(found);
  const close = async () => {
    await page?.close();
    await stopAll(children);
    await own.storage.close();
    await found?.stop();
  };
  children = await allOrNone([
    ['stand-in', fakeGemini],
    ...(found ? startEmulated(settings, found) : startEmbedded(settings, hasSupervisor)),
  ]).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  if (found) watchEmulators(found, log);
  if (page) buildInBackground(page, log);
  // The embedded host has its own.
  const schedule = found && scheduleSweep(settings, found.pubsubHost);
  return {
    ...functions,
    ...(page && { pageUrl: page.url }),
    ...(page?.supervisor && { supervisor: page.supervisor }),
    ...(found && { firestoreHost: found.firestoreHost }),
    projectId: localProjectId,
    variables: openVariables(settings.environment),
    backend: backendName(emulators, embedded),
    model: modelName(own.model),
    stop: async () => {
      await schedule?.stop();
      await close();
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
    ['chat', startFunctionPart('chat', settings)],
    ['compaction', startFunctionPart('compaction', settings)],
    ['subscriptions', subscribeWorker(settings, emulators.pubsubHost).then(() => undefined)],
  ];
}
