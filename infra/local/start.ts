import { randomUUID } from 'node:crypto';
import { existsSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import {
  welcomeText,
  parseStartArguments,
  startHelp,
  type StartArguments,
  createStartConsole,
  isAppSource,
} from './start-console.ts';
import { type Stack, startStack } from './stack/start-stack.ts';
import { isSource } from './script-path.ts';
import { noteStack } from './stack/stack-notes.ts';

const write = (text: string): void => void process.stdout.write(text);
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/** The first signal resolves the promise, a second one ends this process at once. */
function untilAskedToStop(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
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

async function start(wanted: StartArguments): Promise<Stack> {
  const screen = createStartConsole({ write, isVerbose: wanted.isVerbose });
  const { port } = wanted;
  try {
    return await startStack({
      embedded: wanted.isEmbedded,
      ports: {
        chat: port,
        compaction: port + 1,
        fakeGemini: port + 2,
        page: port + 3,
      },
      entry: wanted.entry,
      hasPage: true,
      log: screen.log,
    });
  } finally {
    screen.settle();
  }
}

/** Editors write a file in several steps. */
const SETTLE_MS = 100;

/** Starts the functions anew when a source of an app has changed. The result ends that. */
function reloadOnChanges(stack: Pick<Stack, 'reload'>, entry: string): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(dirname(entry), { recursive: true }, (_, name) => {
    if (name === '.env') write('.env has changed: it is read at the next start\n');
    if (name === null || !isAppSource(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      write(`${name} has changed: the functions start again\n`);
      void stack.reload();
    }, SETTLE_MS);
  });
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

async function run(wanted: StartArguments): Promise<void> {
  const startedAt = performance.now();
  const stopAsked = untilAskedToStop();
  write('Recap starts\n');
  const stack = await start(wanted);
  const tookMs = Math.round(performance.now() - startedAt).toLocaleString('en');
  write(`Recap is ready after ${tookMs} ms\n`);
  const drawn = {
    now: new Date(),
    conversationId: randomUUID(),
    messageIds: [randomUUID(), randomUUID()] as const,
  };
  write(welcomeText(stack, drawn));
  const forget = noteStack(stack, { processId: process.pid });
  const stopWatching = wanted.entry === undefined ? () => {} : reloadOnChanges(stack, wanted.entry);
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
  else {
    // As most tools do; a variable of the shell wins.
    if (wanted.entry !== undefined && existsSync('.env')) process.loadEnvFile('.env');
    await run(wanted);
  }
  process.exit(0);
} catch (error) {
  process.stderr.write(
    `Recap did not start: ${messageOf(error)}\n(${isSource ? 'npm start -- --help' : 'recap dev --help'} lists the options)\n`,
  );
  process.exit(1);
}
