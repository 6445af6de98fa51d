import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

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
    const timeUp = wait(GRACE_MS, undefined, { signal: grace.signal }).catch(() => {});
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
