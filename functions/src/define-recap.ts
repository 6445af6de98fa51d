import { http } from '@google-cloud/functions-framework';
import { once } from '#shared/lib/once.ts';
import { serverTool, withAppModel } from './app-steps.ts';
import { appFields, type RecapApp } from './app.ts';
import { disableNodeDomains } from './bootstrap/disable-node-domains.ts';
import { endOnSignal } from './bootstrap/end-on-signal.ts';
import { guardEveryServer } from './lib/guard-server.ts';
import { registerFunctions } from './bootstrap/register.ts';
import { messageModules, warmUp } from './bootstrap/warm-up.ts';
import { parseConfig } from './config.ts';
import { BUILT_IN_TOOL_NAMES } from './config/environment.ts';
import { createToolbox } from './chat/turns/tools/toolbox.ts';
import { createDependencies } from './dependencies.ts';

/** An instance that nobody has asked by then was not started for a request. */
const STARTED_AHEAD_MS = 500;

type Handler = Parameters<typeof http>[1];

/** The two functions of an app; what its entry module exports. */
export interface RecapFunctions {
  /** Apps call it over HTTPS. */
  chat: Handler;
  /** Pub/Sub pushes to it. */
  compaction: Handler;
}

const definedApps = new WeakMap<object, RecapApp>();

/** The app behind a function that `defineRecap` made; undefined for anything else. */
export const findApp = (exported: unknown): RecapApp | undefined =>
  typeof exported === 'function' ? definedApps.get(exported) : undefined;

/** Takes the process over, as its entry module does once: settings, guards, the end on a signal. */
function serve(app: RecapApp): RecapFunctions {
  guardEveryServer();
  disableNodeDomains();
  const shutdown = new AbortController();
  const config = parseConfig(withAppModel(process.env, app));
  const functions = registerFunctions(
    createDependencies(config, { shutdown: shutdown.signal }, app),
  );
  if (process.env['FUNCTION_TARGET'] === 'chat')
    void warmUp([functions.loadChat, ...messageModules], { afterMs: STARTED_AHEAD_MS });
  endOnSignal(process, () => {
    shutdown.abort();
    return functions.drain();
  });
  return functions;
}

/** For a host that calls the functions and sets no target, such as the build of the image. */
function servedWhenCalled(app: RecapApp): RecapFunctions {
  const served = once(() => serve(app));
  const functions: RecapFunctions = {
    chat: (request, response) => served().chat(request, response),
    compaction: (request, response) => served().compaction(request, response),
  };
  http('chat', functions.chat);
  http('compaction', functions.compaction);
  return functions;
}

/** Throws Error for what types would have refused, and for tools that no model could call. */
function checkApp(app: RecapApp): void {
  const unknown = Object.keys(app).filter((field) => !Object.hasOwn(appFields, field));
  if (unknown.length > 0)
    throw new Error(
      `defineRecap does not know ${unknown.join(', ')}; it takes ${Object.keys(appFields).join(', ')}`,
    );
  const tools = app.tools ?? [];
  const brought: readonly string[] = BUILT_IN_TOOL_NAMES;
  const taken = tools.findIndex(({ name }) => brought.includes(name));
  if (taken >= 0)
    throw new Error(
      `tools[${taken}].name: Recap brings along a tool named ${JSON.stringify(tools[taken]?.name)}; give this one another name`,
    );
  createToolbox(tools.map(serverTool));
}

/**
 * An app's backend: the functions `chat` and `compaction`, to be exported by the entry module under these names. In a
 * deployment (Cloud Functions sets `FUNCTION_TARGET`) they serve at once; elsewhere nothing begins before a host such as
 * `recap dev` serves them. Throws AppError INVALID_CONFIGURATION that names every variable that is wrong, and Error that
 * names the field for a tool whose name is none or taken.
 */
export function defineRecap(app: RecapApp = {}): RecapFunctions {
  checkApp(app);
  const functions =
    process.env['FUNCTION_TARGET'] === undefined ? servedWhenCalled(app) : serve(app);
  definedApps.set(functions.chat, app);
  definedApps.set(functions.compaction, app);
  return { chat: functions.chat, compaction: functions.compaction };
}
