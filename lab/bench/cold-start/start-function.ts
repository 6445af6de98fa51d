import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request, type RequestOptions } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { chooseFreePort } from '#infra/local/processes/open-server.ts';
import { deployedNodeOptions, localProjectId } from '#infra/local/stack/stack-environment.ts';

const NOBODY = '127.0.0.1:9';
const POLL_INTERVAL_MS = 3;

/** What a packed function, or an empty one, is started with where nothing answers it. */
const NOBODY_THERE = {
  NODE_ENV: 'production',
  NODE_OPTIONS: deployedNodeOptions,
  GOOGLE_CLOUD_PROJECT: localProjectId,
  GEMINI_API_KEY: 'none',
  FIREBASE_AUTH_EMULATOR_HOST: NOBODY,
  PUBSUB_EMULATOR_HOST: NOBODY,
  FIRESTORE_EMULATOR_HOST: NOBODY,
  METADATA_SERVER_DETECTION: 'none',
};

interface FirstRequest extends RequestOptions {
  body?: string;
  status: number;
  /** What the answer has to hold. */
  wanted?: string;
}

/**
 * Sends a request by a small client: what it costs is measured, too. Resolves to whether somebody listened, once the
 * answer holds what is wanted. Throws Error for any other answer.
 */
function isAnswered(url: string, asked: FirstRequest): Promise<boolean> {
  const { body, status, wanted = '', ...options } = asked;
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  request(url, options, (response) => {
    let text = '';
    const isGood = () => response.statusCode === status && text.includes(wanted);
    response.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (isGood()) resolve(true);
    });
    response.once('error', reject).once('end', () => {
      if (isGood()) resolve(true);
      else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
    });
  })
    .once('error', () => resolve(false))
    .end(body);
  return promise;
}

interface FunctionStart {
  /** An archive as it lies in an image. */
  folder: string;
  target: string;
  environment?: NodeJS.ProcessEnv;
}

/** Starts a function by the framework's own command; resolves to ms until its first request is answered. */
export async function msUntilAnswered(
  { folder, target, environment }: FunctionStart,
  path: string,
  asked: FirstRequest,
): Promise<number> {
  const port = await chooseFreePort(0, new Set());
  const startedAt = performance.now();
  const framework = 'node_modules/@google-cloud/functions-framework/build/src/main.js';
  const child = spawn(process.execPath, [framework], {
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
  const ended = once(child, 'exit');
  try {
    while (!(await isAnswered(`http://127.0.0.1:${port}${path}`, asked))) {
      if (child.exitCode !== null) throw new Error(`${target} ended with ${child.exitCode}`);
      await wait(POLL_INTERVAL_MS);
    }
    return performance.now() - startedAt;
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}
