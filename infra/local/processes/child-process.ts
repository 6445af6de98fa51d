import type { PartName, StackLog } from '#infra/local/stack/stack-event.ts';
import { scriptPath } from '#infra/local/script-path.ts';
import { answerStatus } from './open-server.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';

/** Ends the child when its parent is gone, however that went: loaded before the child's own code. */
const leash = pathToFileURL(scriptPath('exit-with-parent')).href;

const keptLines = 20;
/** On a machine that was busy with tests a start was seen to take more than half of it. */
const readyTimeoutMs = 30_000;
const readyPollMs = 20;
const terminateTimeoutMs = 3_000;

interface ChildOptions {
  part: PartName;
  /** Path of the script, and its arguments. */
  command: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
  /** Answered with a status below 500 once the part can work. */
  readyUrl: string;
  log: StackLog;
  /** A first start that fails is reported, and the process left down until it is reloaded; default: it is thrown. */
  mayBeDown?: boolean;
}

export interface Child {
  processId(): number | undefined;
  /** It has not started, and waits to be reloaded. */
  isDown(): boolean;
  /** The newest of what it has sent to this process. */
  lastMessage(): unknown;
  /** Ends it as `stop` does, and starts it again, with another environment where one is given; one that is down as well. */
  reload(environment?: ChildOptions['environment']): Promise<void>;
  /** SIGTERM, after three seconds SIGKILL. Resolves when the process is gone. */
  stop(): Promise<void>;
}

interface Run {
  process: ChildProcess;
  /** How it ended. */
  exit: Promise<string>;
  lastLines: string[];
  startedAt: number;
  lastMessage: unknown;
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
  const run: Run = {
    process: child,
    exit,
    lastLines,
    startedAt: performance.now(),
    lastMessage: undefined,
  };
  child.on('message', (message) => (run.lastMessage = message));
  return run;
}

async function waitUntilReady({ part, readyUrl }: ChildOptions, run: Run): Promise<void> {
  let ended: string | undefined;
  void run.exit.then((exit) => (ended = exit));
  while (((await answerStatus(readyUrl)) ?? 500) >= 500) {
    const tookMs = performance.now() - run.startedAt;
    if (ended === undefined && tookMs < readyTimeoutMs) {
      await delay(readyPollMs);
      continue;
    }
    run.process.kill('SIGKILL');
    const problem =
      ended === undefined ? `was not ready after ${readyTimeoutMs} ms` : `ended: ${ended}`;
    throw new Error([`${part} ${problem}`, ...run.lastLines].join('\n    '));
  }
}

async function terminate(run: Run): Promise<void> {
  run.process.kill('SIGTERM');
  const killer = setTimeout(() => run.process.kill('SIGKILL'), terminateTimeoutMs);
  await run.exit;
  clearTimeout(killer);
}

/**
 * Starts a Node process of the stack and resolves when it answers. From then on a crash is reported with its last
 * lines and the process started again; one that does not start again is reported and left down until it is reloaded.
 * Throws when the first start fails, but for one that `mayBeDown`.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { part, log } = options;
  let { environment } = options;
  let run = launch(options);
  let isStopping = false;
  let isReloading = false;
  /** Resolved by a reload of a process that is down. */
  let down: PromiseWithResolvers<void> | undefined;

  async function stayDown(failure: unknown): Promise<void> {
    const problem = failure instanceof Error ? failure.message : String(failure);
    log({ kind: 'failed', part, problem });
    down = Promise.withResolvers();
    await down.promise;
    down = undefined;
  }

  async function startAgain(): Promise<void> {
    for (;;) {
      isReloading = false;
      run = launch({ ...options, environment });
      try {
        await waitUntilReady(options, run);
        log({ kind: 'restarted', part, tookMs: Math.round(performance.now() - run.startedAt) });
        return;
      } catch (error) {
        if (isStopping) return;
        // A reload ended it while it started: that is no failure.
        if (isReloading) continue;
        await stayDown(error);
        if (isStopping) return;
      }
    }
  }

  async function keepRunning(failure?: unknown): Promise<void> {
    if (failure !== undefined) {
      await stayDown(failure);
      if (isStopping) return;
      await startAgain();
    }
    for (;;) {
      const exit = await run.exit;
      if (isStopping) return;
      if (!isReloading) log({ kind: 'crashed', part, exit, lastLines: run.lastLines });
      await startAgain();
    }
  }

  try {
    await waitUntilReady(options, run);
    void keepRunning();
  } catch (error) {
    if (options.mayBeDown !== true) throw error;
    void keepRunning(error);
  }
  return {
    processId: () => run.process.pid,
    isDown: () => down !== undefined,
    lastMessage: () => run.lastMessage,
    reload: async (changed = environment) => {
      environment = changed;
      if (down) return down.resolve();
      isReloading = true;
      await terminate(run);
    },
    stop: async () => {
      isStopping = true;
      down?.resolve();
      await terminate(run);
    },
  };
}

export interface WatchedProcess {
  pid: number | undefined;
  isRunning(): boolean;
  /** Settles when the process is gone, stopped or not. */
  ended: Promise<unknown>;
  /** The newest lines that it printed. */
  lastOutput(): string;
  /** Asks it to end, kills it after 3 s, and resolves when it is gone. */
  stop(): Promise<void>;
}

/**
 * Runs a command beside a `cat` that reads our end of a pipe. However this process ends, SIGKILL
 * included, the pipe closes, `cat` ends and the command is told to end, then killed: it never outlives
 * us, and needs no handlers of signals or exit.
 */
const WATCHDOG = `
exec 3<&0
"$@" 3<&- &
watched=$!
(cat <&3 >/dev/null; kill "$watched"; sleep 2; kill -9 "$watched") 2>/dev/null &
watcher=$!
exec 3<&-
wait "$watched"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
`;

const GRACE_MS = 3_000;
const KEPT_OUTPUT_CHARACTERS = 4_000;

/** Starts `command` so that it ends with this process at the latest. */
export function startWatched(command: string, commandArguments: readonly string[]): WatchedProcess {
  const child = spawn('sh', ['-c', WATCHDOG, 'watched', command, ...commandArguments], {
    // A group of its own: Ctrl-C reaches us alone, and one kill reaches all of it.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-KEPT_OUTPUT_CHARACTERS);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  // Closing the pipe of a process that is gone already is no failure.
  child.stdin.on('error', () => {});
  const ended = once(child, 'exit').catch((error: unknown) => {
    output += String(error);
  });
  const isRunning = (): boolean =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;

  async function stop(): Promise<void> {
    child.stdin.end();
    const grace = new AbortController();
    const timeUp = delay(GRACE_MS, undefined, { signal: grace.signal }).catch(() => {});
    await Promise.race([ended, timeUp]);
    grace.abort();
    if (isRunning()) killGroup(child.pid);
    await ended;
    child.stdout.destroy();
    child.stderr.destroy();
  }

  return { pid: child.pid, isRunning, ended, lastOutput: () => output.trim(), stop };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended in this moment.
  }
}
