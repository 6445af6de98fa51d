import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { parseArgs } from 'node:util';
import { chooseFreePort } from '../../../infra/local/free-port.ts';

/*
 * `node first-answer.ts --folder DIR --target NAME --path PATH --status N`: starts a function by the framework's
 * own command and prints how long it took from the start of the process to its first answer, ms.
 */
const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: '.' },
    target: { type: 'string', default: '' },
    path: { type: 'string', default: '/' },
    status: { type: 'string', default: '200' },
  },
});

/** The status, or undefined while nobody listens. A small client: what it costs is measured, too. */
function ask(url: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  get(url, (response) => {
    response.resume();
    response.once('end', () => resolve(response.statusCode));
  }).once('error', () => resolve(undefined));
  return promise;
}

const port = await chooseFreePort(0, new Set());
const nobody = '127.0.0.1:9';
const startedAt = performance.now();
const child = spawn(
  process.execPath,
  ['node_modules/@google-cloud/functions-framework/build/src/main.js'],
  {
    cwd: values.folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      FUNCTION_TARGET: values.target,
      PORT: String(port),
      GOOGLE_CLOUD_PROJECT: 'demo-bench',
      GEMINI_API_KEY: 'none',
      FIREBASE_AUTH_EMULATOR_HOST: nobody,
      PUBSUB_EMULATOR_HOST: nobody,
      FIRESTORE_EMULATOR_HOST: nobody,
      METADATA_SERVER_DETECTION: 'none',
    },
  },
);
let status: number | undefined;
while (status === undefined) {
  if (child.exitCode !== null) throw new Error(`${values.target} ended with ${child.exitCode}`);
  status = await ask(`http://127.0.0.1:${port}${values.path}`);
  if (status === undefined) await new Promise((resolve) => setTimeout(resolve, 3));
}
const tookMs = performance.now() - startedAt;
child.kill('SIGKILL');
await once(child, 'exit');
if (status !== Number(values.status))
  throw new Error(`${values.target} answered ${status}, not ${values.status}`);
process.stdout.write(`${tookMs}\n`);
