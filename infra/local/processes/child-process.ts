import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { PartName, StackLog } from '../stack/stack-event.ts';

/** Ends the child when its parent is gone, however that went: loaded before the child's own code. */
const leash = new URL('./exit-with-parent.ts', import.meta.url).href;

const keptLines = 20;
const terminateTimeoutMs = 3_000;
const readyPollMs = 20;

/** How often a part may crash before it is left down, and how long a good run makes that forgotten. */
const mostCrashes = 5;
const forgottenAfterMs = 60_000;
const defaultFirstBackOffMs = 250;

interface ChildOptions {
  part: PartName;
  /** Path of the script, and its arguments. */
  command: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  /** Answered with a status below 500 once the part can work. */
  readyUrl: string;
  readyTimeoutMs?: number;
  /** Wait before the first restart; it doubles with each further crash. Default 250. */
  firstBackOffMs?: number;
  log: StackLog;
}

export interface Child {
  processId(): number | undefined;
  /** Kills the process without warning (SIGKILL) and resolves when its successor is ready. */
  restart(): Promise<void>;
  /** SIGTERM, after three seconds SIGKILL. Resolves when the process is gone. */
  stop(): Promise<void>;
  /** SIGKILL at once. */
  kill(): void;
}

interface Run {
  process: ChildProcess;
  /** How it ended. */
  exit: Promise<string>;
  lastLines: string[];
  startedAt: number;
}

function launch(options: ChildOptions): Run {
  const child = spawn(process.execPath, ['--import', leash, ...options.command], {
    // Its own group: a Ctrl-C in the terminal is for the parent alone, which stops its parts in order.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...options.environment },
  });
  const lastLines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      lastLines.push(line);
      if (lastLines.length > keptLines) lastLines.shift();
      options.log({ kind: 'line', part: options.part, line });
    });
  }
  const { promise: exit, resolve } = Promise.withResolvers<string>();
  child.once('error', (error) => resolve(error.message));
  // `close` comes after the last line was read, `exit` may come before.
  child.once('close', (code, signal) => resolve(signal ?? `exit code ${code}`));
  return { process: child, exit, lastLines, startedAt: performance.now() };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status < 500;
  } catch {
    return false;
  }
}

async function waitUntilReady(options: ChildOptions, run: Run): Promise<void> {
  const timeoutMs = options.readyTimeoutMs ?? 15_000;
  let ended: string | undefined;
  void run.exit.then((exit) => (ended = exit));
  while (!(await answers(options.readyUrl))) {
    const tookMs = performance.now() - run.startedAt;
    if (ended === undefined && tookMs < timeoutMs) {
      await delay(readyPollMs);
      continue;
    }
    run.process.kill('SIGKILL');
    const problem = ended === undefined ? `was not ready after ${timeoutMs} ms` : `ended: ${ended}`;
    throw new Error([`${options.part} ${problem}`, ...run.lastLines].join('\n    '));
  }
}

async function terminate(run: Run): Promise<void> {
  run.process.kill('SIGTERM');
  const killer = setTimeout(() => run.process.kill('SIGKILL'), terminateTimeoutMs);
  await run.exit;
  clearTimeout(killer);
}

/**
 * Starts a Node process of the stack and resolves when it answers. From then on a crash is reported
 * with its last lines and the process started again, 250 ms later and twice as long each further time;
 * after five crashes within a minute it is left down. Throws when the first start fails.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { part, log, firstBackOffMs = defaultFirstBackOffMs } = options;
  let crashes = 0;
  let run: Run;
  const stopping = new AbortController();
  const { signal } = stopping;

  const start = async (): Promise<void> => {
    run = launch(options);
    await waitUntilReady(options, run);
    watch(run);
  };

  const watch = (watched: Run): void => {
    void watched.exit.then(async (exit) => {
      // A run that was replaced on purpose is not a crash.
      if (!signal.aborted && watched === run) await recover(watched.lastLines, exit);
    });
  };

  const recover = async (lastLines: string[], exit: string): Promise<void> => {
    crashes = performance.now() - run.startedAt > forgottenAfterMs ? 1 : crashes + 1;
    if (crashes > mostCrashes) return log({ kind: 'gave-up', part, crashes, lastLines });
    const restartInMs = firstBackOffMs * 2 ** (crashes - 1);
    log({ kind: 'crashed', part, exit, lastLines, restartInMs });
    await delay(restartInMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const restartedAt = performance.now();
    try {
      await start();
      log({ kind: 'restarted', part, tookMs: Math.round(performance.now() - restartedAt) });
    } catch {
      if (!signal.aborted)
        await recover(run.lastLines.length > 0 ? run.lastLines : lastLines, 'no start');
    }
  };

  await start();
  return {
    processId: () => run.process.pid,
    kill: () => run.process.kill('SIGKILL'),
    restart: async () => {
      const old = run;
      run = { ...old };
      old.process.kill('SIGKILL');
      await old.exit;
      await start();
    },
    stop: async () => {
      stopping.abort();
      await terminate(run);
    },
  };
}
