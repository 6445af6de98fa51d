import { recapCommand } from '#infra/command-line.ts';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import {
  welcomeText,
  parseStartArguments,
  startHelp,
  type StartArguments,
  createStartConsole,
} from './start-console.ts';
import { appFolder } from './load-app.ts';
import { type Stack, startStack } from './stack/start-stack.ts';
import { noteStack } from './stack/stack-notes.ts';
import { watchSources } from './watch-sources.ts';

const write = (text: string): void => void process.stdout.write(text);
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** Between two looks whether npm is still there. */
const PARENT_LOOK_MS = 500;

/** Name and parent of a process, where `/proc` tells them: elsewhere no shell stays between npm and what it runs. */
function findProcess(pid: number): { name: string; parent: string } | undefined {
  try {
    const stat = /\((?<name>.*)\) \S (?<parent>\d+)/.exec(
      readFileSync(`/proc/${pid}/stat`, 'utf8'),
    );
    return stat?.groups as { name: string; parent: string } | undefined;
  } catch {
    return undefined;
  }
}

/** Tells whether the npm or npx that runs this process is gone: it passes no signal on when it is killed. */
function watchNpm(): () => boolean {
  const { ppid } = process;
  const parent = findProcess(ppid);
  const isShell = parent !== undefined && /^(?:ba|da|a|z)?sh$/.test(parent.name);
  return () => process.ppid !== ppid || (isShell && findProcess(ppid)?.parent !== parent.parent);
}

/**
 * The first signal resolves the promise, as the end of npm does; a second one ends this process at once.
 */
function untilAskedToStop(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (process.env['npm_command'] !== undefined) {
    const isNpmGone = watchNpm();
    setInterval(() => {
      if (isNpmGone()) resolve();
    }, PARENT_LOOK_MS).unref();
  }
  let asked = 0;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      asked += 1;
      // The parts watch this process and end with it.
      if (asked > 1) process.exit(130);
      resolve();
    });
  }
  return promise;
}

type Screen = ReturnType<typeof createStartConsole>;

/** The variables of this shell, and of an app those of its `.env` that the shell does not have. Throws Error that names the file. */
function readShell({ entry }: StartArguments): Record<string, string | undefined> {
  if (entry === undefined || !existsSync('.env')) return process.env;
  try {
    return { ...parseEnv(readFileSync('.env', 'utf8')), ...process.env };
  } catch (error) {
    throw new Error(`.env cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

async function start(wanted: StartArguments, screen: Screen): Promise<Stack> {
  const { port } = wanted;
  try {
    return await startStack({
      shell: readShell(wanted),
      embedded: wanted.isEmbedded,
      ports: {
        chat: port,
        compaction: port + 1,
        fakeGemini: port + 2,
        page: port + 3,
      },
      entry: wanted.entry,
      claims: wanted.claims,
      hasPage: true,
      log: screen.log,
    });
  } finally {
    screen.settle();
  }
}

/**
 * Starts the functions anew when a source of an app, or its `.env`, has changed; a change while they start is made up for
 * once they have. The result ends that.
 */
async function reloadOnChanges(
  started: Promise<Pick<Stack, 'reload'>>,
  wanted: StartArguments,
): Promise<() => void> {
  if (wanted.entry === undefined) return () => {};
  const reload = async (path: string) => {
    const stack = await started;
    write(`${path} has changed: the functions start again\n`);
    await stack.reload(readShell(wanted));
  };
  const watching = await watchSources(appFolder(wanted.entry), (path) => {
    reload(path).catch((error: unknown) => write(`✗ ${messageOf(error)}\n`));
  });
  return () => watching.stop();
}

async function run(wanted: StartArguments): Promise<void> {
  const startedAt = performance.now();
  const stopAsked = untilAskedToStop();
  write('Recap starts\n');
  const screen = createStartConsole({ write, isVerbose: wanted.isVerbose });
  const started = Promise.withResolvers<Stack>();
  // Before the functions read their sources: what is saved from then on is told.
  const stopWatching = await reloadOnChanges(started.promise, wanted);
  const stack = await start(wanted, screen);
  const drawn = {
    now: new Date(),
    conversationId: randomUUID(),
    messageIds: [randomUUID(), randomUUID()] as const,
    claims: wanted.claims,
  };
  const tookMs = Math.round(performance.now() - startedAt).toLocaleString('en');
  if (!stack.isDown()) write(`Recap is ready after ${tookMs} ms\n`);
  write(welcomeText(stack, drawn));
  if (stack.isDown())
    write(
      '\n✗ The functions are down (see above): they start again when a source or .env changes.\n',
    );
  const forget = noteStack(stack, { processId: process.pid });
  started.resolve(stack);
  await stopAsked;
  stopWatching();
  write('\nRecap stops …\n');
  forget();
  await stack.stop();
  write('Recap has stopped\n');
}

try {
  const wanted = parseStartArguments(process.argv.slice(2));
  if (wanted === 'help') write(`${startHelp}\n`);
  else await run(wanted);
  process.exit(0);
} catch (error) {
  // What a part said before it ended stands above.
  const [problem] = messageOf(error).split('\n', 1);
  process.stderr.write(
    `Recap did not start: ${problem}\n(${recapCommand('dev', '--help')} lists the options)\n`,
  );
  process.exit(1);
}
