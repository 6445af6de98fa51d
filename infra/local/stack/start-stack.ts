import { ENTRY_VARIABLE } from '#infra/local/load-app.ts';
import { startPage } from '#infra/local/page/start-page.ts';
import { chooseFreePort } from '#infra/local/processes/open-server.ts';
import { listedOrigins } from '../processes/refuse-foreign.ts';
import { unsignedToken } from '../processes/unsigned-token.ts';
import { startStorage } from '#infra/local/storage/start-storage.ts';
import { defaultSweepSeconds } from '../sweep-schedule.ts';
import type { PushSettings } from './pubsub-setup.ts';
import {
  chooseModel,
  LOCAL_USER,
  localProjectId,
  openVariables,
  stackEnvironment,
} from './stack-environment.ts';
import type { PartName, StackLog } from './stack-event.ts';
import {
  type Children,
  embeddedPart,
  fakeGeminiPart,
  functionPart,
  localUrl,
  type PartSettings,
  functionsIn,
  reloadFunctions,
  scheduleSweep,
  type StackPorts,
  startEmulatorParts,
  startParts,
  stopParts,
  subscribeWorker,
} from './stack-parts.ts';
import { backendName, modelName } from './stack-notes.ts';
import { resolve } from 'node:path';
import { z } from 'zod';

type Environment = Readonly<Record<string, string | undefined>>;

export interface StackOptions {
  /** Store and bus in memory, even where emulators are installed. */
  embedded?: boolean;
  /** Wanted ports; one that is taken is replaced by the next free one. Default: any free ones. */
  ports?: Partial<StackPorts>;
  /** Variables of the functions that differ from the local defaults. */
  environment?: Environment;
  push?: Partial<PushSettings>;
  /** The module that exports the functions of an app. Default: Recap without anything of an app's own. */
  entry?: string | undefined;
  /** Custom claims of the page's user. */
  claims?: Readonly<Record<string, unknown>>;
  /** Whether the page is served. Default false. */
  hasPage?: boolean;
  /** How often the sweep event is published; 0 = never. Default 300. */
  sweepSeconds?: number;
  /** The user's environment. Default: that of this process. */
  shell?: Environment;
  log: StackLog;
}

export interface Stack {
  chatUrl: string;
  compactionUrl: string;
  /** Absent where no page was asked for. */
  pageUrl?: string | undefined;
  /** Absent when a real model answers. */
  fakeGeminiUrl?: string | undefined;
  /** Absent in the embedded mode. */
  firestoreHost?: string | undefined;
  projectId: string;
  /** The variables of the functions that say where things are and how much is compacted; no secrets. */
  variables: Readonly<Record<string, string>>;
  /** What holds the data, for people. */
  backend: string;
  /** Who answers, for people. */
  model(): string;
  /** The functions of an app have not started: their next reload may mend it. */
  isDown(): boolean;
  processIds(): { part: PartName; processId: number }[];
  /** Starts the functions anew, with what their sources and the user's environment say now. */
  reload(shell?: Environment): Promise<void>;
  /** Ends every process that was started; resolves when they are gone and the ports free. */
  stop(): Promise<void>;
}

const ownModelSchema = z.object({ ownModel: z.string() });

/** The app's own model, where one answers: its process says so. */
const ownModel = (children: Children): string | undefined =>
  functionsIn(children)
    .map((child) => ownModelSchema.safeParse(child.lastMessage()).data?.ownModel)
    .find((model) => model !== undefined);

/** The bucket of uploads, as its name is on this machine. */
const LOCAL_BUCKET = 'recap-uploads';

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
    fakeGemini: await choose('fake-gemini', ports?.fakeGemini),
    page: await choose('page', ports?.page),
  };
}

/** The page is of another origin than chat, and may be open under either name of this machine. */
const pageOrigins = ({ page }: StackPorts): string[] => [
  localUrl(page),
  `http://localhost:${page}`,
];

/**
 * Starts chat, compaction and the fake Gemini side by side, after the emulators, and resolves when all of them answer.
 * Without emulators, or on demand, both functions run in one process over a store and a bus in memory. When a part
 * does not start, the others are stopped again and its error is thrown.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { log, embedded = false, hasPage = false, environment = {} } = options;
  let shell = options.shell ?? process.env;
  const ports = await choosePorts(options);
  const chatUrl = localUrl(ports.chat);
  // What was started is stopped in the reverse order, also when a later part does not start.
  await using started = new AsyncDisposableStack();

  const foundEmulators = embedded ? { missing: '' } : await startEmulatorParts(log);
  const emulators = 'missing' in foundEmulators ? undefined : foundEmulators;
  started.defer(() => emulators?.stop());
  void emulators?.crashed.then((output) =>
    log({ kind: 'lost', part: 'emulators', lastLines: output.split('\n').slice(-20) }),
  );

  const origins = listedOrigins({ ...shell, ...environment });
  const storage = await startStorage({ bucket: LOCAL_BUCKET, origins });
  started.defer(() => storage.close());

  const fakeGeminiUrl = () =>
    chooseModel(shell).kind === 'fake-gemini' ? localUrl(ports.fakeGemini) : undefined;
  const variables = () =>
    stackEnvironment({
      shell,
      model: chooseModel(shell),
      fakeGeminiUrl: fakeGeminiUrl(),
      emulators,
      settings: {
        // Notifications go to the fake of FCM, where there is one.
        ...(fakeGeminiUrl() !== undefined && {
          FCM_PROJECT: localProjectId,
          FCM_URL: fakeGeminiUrl(),
        }),
        UPLOADS_BUCKET: LOCAL_BUCKET,
        UPLOADS_URL: storage.url,
        ...(hasPage && {
          CORS_ORIGINS: [...listedOrigins(shell), ...pageOrigins(ports)].join(','),
        }),
        ...(options.entry !== undefined && { [ENTRY_VARIABLE]: resolve(options.entry) }),
        ...environment,
      },
    });
  const settings: PartSettings = {
    ports,
    environment: variables(),
    mayBeDown: options.entry !== undefined,
    push: options.push ?? {},
    sweepSeconds: options.sweepSeconds ?? defaultSweepSeconds,
    log,
  };
  const functions = emulators
    ? [functionPart('chat', settings), functionPart('compaction', settings)]
    : [embeddedPart(settings)];
  const children: Children = new Map();
  started.defer(() => stopParts(children));
  await Promise.all([
    startParts(
      fakeGeminiUrl() === undefined ? functions : [fakeGeminiPart(settings), ...functions],
      settings,
      children,
    ),
    emulators && subscribeWorker(settings, emulators.pubsubHost),
  ]);

  const token = unsignedToken({
    uid: LOCAL_USER,
    projectId: localProjectId,
    now: new Date(),
    claims: options.claims ?? {},
  });
  const page = hasPage
    ? await startPage({ port: ports.page, config: { chatUrl, token } })
    : undefined;
  started.defer(() => page?.close());
  // The embedded host has its own.
  const schedule = emulators && scheduleSweep(settings, emulators.pubsubHost);
  started.defer(() => schedule?.stop());

  const running = started.move();
  return {
    chatUrl,
    compactionUrl: localUrl(ports.compaction),
    pageUrl: page?.url,
    fakeGeminiUrl: ownModel(children) === undefined ? fakeGeminiUrl() : undefined,
    firestoreHost: emulators?.firestoreHost,
    projectId: localProjectId,
    variables: openVariables(settings.environment),
    backend: backendName(foundEmulators, embedded),
    model: () => modelName(chooseModel(shell), ownModel(children)),
    isDown: () => functionsIn(children).some((child) => child.isDown()),
    processIds: () =>
      [...children].map(([part, child]) => ({ part, processId: child.processId() ?? 0 })),
    reload: async (changed = shell) => {
      shell = changed;
      // A key that was taken away: the fake Gemini answers from now on.
      if (fakeGeminiUrl() !== undefined && !children.has('fake-gemini'))
        await startParts([fakeGeminiPart(settings)], settings, children);
      await reloadFunctions(children, variables());
    },
    stop: () => running.disposeAsync(),
  };
}
