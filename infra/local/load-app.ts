import { AppError } from '#shared/lib/errors.ts';
import type { RecapApp } from '#functions/app.ts';
import { disableNodeDomains } from '#functions/bootstrap/disable-node-domains.ts';
import { findApp } from '#functions/define-recap.ts';
import { endOnSignal } from '#functions/bootstrap/end-on-signal.ts';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isSource } from './script-path.ts';

/** Names the module of an app to the processes of a local stack. */
export const ENTRY_VARIABLE = 'RECAP_ENTRY';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The app whose functions the module at the path in `RECAP_ENTRY` exports; without a path one that defines nothing. Throws
 * what the module throws, and Error where it exports no such function.
 */
export async function loadApp(environment: Environment): Promise<RecapApp> {
  const entry = environment[ENTRY_VARIABLE];
  const exported: { chat?: unknown; compaction?: unknown } =
    entry === undefined
      ? await import('#functions/index.ts')
      : await import(pathToFileURL(entry).href);
  const app = findApp(exported.chat);
  if (!app || findApp(exported.compaction) !== app)
    throw new Error(
      `${entry ?? 'index.ts'} exports no \`chat\` and \`compaction\` of one app. It needs: export const { chat, compaction } = defineRecap({ … });`,
    );
  return app;
}

/** Whether a path leads into a folder, or to it. */
function isWithin(folder: string, path: string): boolean {
  const below = relative(folder, path);
  return !below.startsWith('..') && !isAbsolute(below);
}

/** The folder that the sources of an app are in: that of the project, where its entry is below it. */
export function appFolder(entry: string): string {
  const beside = dirname(resolve(entry));
  return !isSource && isWithin(process.cwd(), beside) ? process.cwd() : beside;
}

/** A file URL or a path in a frame of a stack. */
const PLACE = /(?:file:\/\/)?((?:\/|[A-Za-z]:\\)[^():]*(?:\([^()]*\)[^():]*)*):\d+:\d+\)?$/;

function isFrameOfApp(line: string, folder: string): boolean {
  const path = PLACE.exec(line)?.[1];
  if (path === undefined || path.includes('node_modules')) return false;
  return isWithin(folder, decodeURI(path));
}

/**
 * Why an app does not start, for who writes it: its error with the frames of its own sources; of what Recap refuses the
 * message alone.
 */
function startFailure(error: unknown, environment: Environment): string {
  if (error instanceof AppError) return error.message;
  if (!(error instanceof Error)) return `${String(error)} was thrown`;
  const entry = environment[ENTRY_VARIABLE];
  if (entry === undefined) return error.stack ?? error.message;
  const folder = appFolder(entry);
  return (error.stack ?? error.message)
    .split('\n')
    .filter((line) => !/^\s+at /.test(line) || isFrameOfApp(line, folder))
    .join('\n');
}

/**
 * Runs a process of a local stack over the app that its environment names, until it is told to end. The parent learns by
 * which model of the app's own it answers. A start that fails ends the process with `startFailure`.
 */
export async function runApp(
  start: (app: RecapApp, shutdown: AbortSignal) => Promise<{ drain: () => Promise<void> }>,
): Promise<void> {
  disableNodeDomains();
  const shutdown = new AbortController();
  try {
    const app = await loadApp(process.env);
    const isOwn = app.model && [undefined, '', app.model.id].includes(process.env['MODEL']);
    if (isOwn) process.send?.({ ownModel: app.model?.id });
    const started = await start(app, shutdown.signal);
    endOnSignal(process, () => {
      shutdown.abort();
      return started.drain();
    });
  } catch (error) {
    process.stderr.write(`${startFailure(error, process.env)}\n`, () => process.exit(1));
  }
}
