import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { answerStatus } from '#infra/local/processes/open-server.ts';

/** What a function process of a chaos run is started with, as JSON on its command line. */
export const entrySettingsSchema = z.strictObject({
  /** Another one for each start: a process must not repeat what its predecessor drew. */
  seed: z.string(),
  startedAtMs: z.number(),
  timeScale: z.number().positive(),
  /** By how much the clock of its machine is wrong. */
  skewMs: z.number(),
  /** Share of the events for the workers that never reach the bus. */
  lostPublishShare: z.number().min(0).max(1),
  /** Share of the swaps whose worker stands still between its last look and its commit. */
  pausedSwapShare: z.number().min(0).max(1),
});
export type EntrySettings = z.infer<typeof entrySettingsSchema>;

/** What a function process tells the run over its channel. */
const entryMessageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('fault'), name: z.string() }),
  z.object({
    kind: z.literal('generation'),
    conversationId: z.string(),
    generation: z.number(),
    by: z.string(),
  }),
]);
export type EntryMessage = z.infer<typeof entryMessageSchema>;

const entry = fileURLToPath(new URL('function-entry.ts', import.meta.url));
/** Ends the process when this one is gone. */
const leash = new URL('../../infra/local/processes/exit-with-parent.ts', import.meta.url).href;

const READY_TIMEOUT_MS = 30_000;
const READY_POLL_MS = 30;
/** Cloud Run kills after 10 s. */
const DRAIN_TIMEOUT_MS = 10_000;

interface FunctionProcessOptions {
  target: 'chat' | 'compaction';
  port: number;
  environment: Readonly<Record<string, string | undefined>>;
  onMessage: (message: EntryMessage) => void;
  /** Every line that it prints. */
  onLine: (line: string) => void;
  /** It ended, and nobody had asked for it. */
  onCrash: (how: string) => void;
}

export type FunctionProcess = ReturnType<typeof createFunctionProcess>;

function launch(options: FunctionProcessOptions, settings: EntrySettings): ChildProcess {
  const { target, port, environment } = options;
  const child = spawn(
    process.execPath,
    ['--import', leash, entry, target, String(port), JSON.stringify(settings)],
    { detached: true, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...environment } },
  );
  for (const stream of [child.stdout, child.stderr])
    if (stream) createInterface({ input: stream }).on('line', options.onLine);
  child.on('message', (message) => options.onMessage(entryMessageSchema.parse(message)));
  return child;
}

/** One function host that is killed and started again, on the same port. */
export function createFunctionProcess(options: FunctionProcessOptions) {
  const name = `${options.target}:${options.port}`;
  const path = options.target === 'chat' ? '/v1/health' : '/';
  const url = `http://127.0.0.1:${options.port}${path}`;
  let child: ChildProcess | undefined;
  const isGone = (childProcess: ChildProcess) =>
    childProcess.exitCode !== null || childProcess.signalCode !== null;

  return {
    name,
    isRunning: () => child !== undefined && !isGone(child),
    /** Resolves when it answers. Throws Error when it does not within 30 s or ends. */
    start: async (settings: EntrySettings) => {
      const started = launch(options, settings);
      child = started;
      started.once('exit', (code, signal) => {
        // What is killed on purpose is forgotten before.
        if (child === started) options.onCrash(`${name} ended: ${signal ?? `exit code ${code}`}`);
      });
      const giveUpAt = performance.now() + READY_TIMEOUT_MS;
      while (((await answerStatus(url)) ?? 500) >= 500) {
        if (child !== started) return;
        if (isGone(started) || performance.now() > giveUpAt)
          throw new Error(`${name} did not start`);
        await delay(READY_POLL_MS);
      }
    },
    /** SIGKILL; resolves when it is gone. */
    kill: async () => {
      const killed = child;
      child = undefined;
      if (!killed || isGone(killed)) return;
      const gone = once(killed, 'exit');
      killed.kill('SIGKILL');
      await gone;
    },
    /** SIGTERM; resolves when it is gone. One that does not end well, or not within 10 s, has crashed. */
    terminate: async () => {
      const ending = child;
      child = undefined;
      if (!ending || isGone(ending)) return;
      const gone = once(ending, 'exit');
      ending.kill('SIGTERM');
      const timer = setTimeout(() => ending.kill('SIGKILL'), DRAIN_TIMEOUT_MS);
      await gone;
      clearTimeout(timer);
      // One that had not begun to listen knows nothing of ending well.
      const wasStarting = ending.signalCode === 'SIGTERM';
      if (ending.exitCode !== 0 && !wasStarting)
        options.onCrash(
          `${name} did not end well on SIGTERM: ${ending.signalCode ?? `exit code ${ending.exitCode}`}`,
        );
    },
  };
}
