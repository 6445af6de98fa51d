import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { chooseFreePort } from '#infra/local/processes/free-port.ts';
import { deployedNodeOptions } from '#infra/local/stack/stack-environment.ts';

const NOBODY = '127.0.0.1:9';
const POLL_INTERVAL_MS = 3;

/** What a packed function, or an empty one, is started with where nothing answers it. */
export const NOBODY_THERE = {
  NODE_ENV: 'production',
  NODE_OPTIONS: deployedNodeOptions,
  GOOGLE_CLOUD_PROJECT: 'demo-bench',
  GEMINI_API_KEY: 'none',
  FIREBASE_AUTH_EMULATOR_HOST: NOBODY,
  PUBSUB_EMULATOR_HOST: NOBODY,
  FIRESTORE_EMULATOR_HOST: NOBODY,
  METADATA_SERVER_DETECTION: 'none',
};

interface FunctionStart {
  /** An archive as it lies in an image. */
  folder: string;
  target: string;
  environment?: NodeJS.ProcessEnv;
}

const start = ({ folder, target, environment }: FunctionStart, port: number): ChildProcess =>
  spawn(process.execPath, ['node_modules/@google-cloud/functions-framework/build/src/main.js'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      ...NOBODY_THERE,
      ...environment,
      FUNCTION_TARGET: target,
      PORT: String(port),
    },
  });

/** Whether somebody takes connections under a URL; sends nothing. */
export async function isListening(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Starts a function by the framework's own command, and resolves to how long it took from the start of the process
 * until `ask` had what it asks for, ms. `ask` gets the URL and resolves to whether somebody listened; what else it gets
 * than it wants it throws.
 */
export async function msUntil(
  started: FunctionStart,
  ask: (url: string) => Promise<boolean>,
): Promise<number> {
  const port = await chooseFreePort(0, new Set());
  const startedAt = performance.now();
  const child = start(started, port);
  const ended = once(child, 'exit');
  try {
    while (!(await ask(`http://127.0.0.1:${port}`))) {
      if (child.exitCode !== null)
        throw new Error(`${started.target} ended with ${child.exitCode}`);
      await wait(POLL_INTERVAL_MS);
    }
    return performance.now() - startedAt;
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
