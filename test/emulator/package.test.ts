import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chooseFreePort } from '#infra/local/processes/free-port.ts';
import { createTopic } from '#infra/local/stack/pubsub-setup.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { archiveFiles } from '#infra/package/archive.ts';
import { toZip } from '#infra/package/zip.ts';
import {
  demoProjectId,
  firestoreEmulatorHost,
  pubsubEmulatorHost,
} from '../support/processes/emulator-environment.ts';
import { eventually } from '../support/eventually.ts';
import { pushOf } from '../support/processes/pushing.ts';

/* What Cloud Build and Cloud Run do with the archive of `npm run package`. */

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const projectId = demoProjectId();

let folder: string;
let built: string;
let fakeGemini: Awaited<ReturnType<typeof startFakeGemini>>;
const started: { child: ChildProcess; output: string }[] = [];
const urls = { chat: '', compaction: '' };

/** As a shell of the builder, without what npm and vitest say to their children. */
const environment = () => {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, METADATA_SERVER_DETECTION: 'none' };
};

const inFolder = (command: string, ...line: string[]) =>
  run(command, line, { cwd: folder, env: environment() });

/** What terraform/functions.tf gives both functions, with emulators and the fake Gemini in Google's place. */
const variables = () => ({
  NODE_ENV: 'production',
  GOOGLE_CLOUD_PROJECT: projectId,
  FIRESTORE_DATABASE: '(default)',
  COMPACTION_TOPIC: 'recap-compaction',
  EVENTS_TOPIC: 'recap-events',
  UPLOADS_BUCKET: `${projectId}-recap-uploads`,
  UPLOADS_SIGNER: `recap-chat@${projectId}.iam.gserviceaccount.com`,
  SNAPSHOT_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
  PUSH_AUDIENCE: 'https://recap-compaction.example.com',
  PUSH_SERVICE_ACCOUNT: `recap-push@${projectId}.iam.gserviceaccount.com`,
  GEMINI_API_KEY: 'stand-in',
  GEMINI_BASE_URL: fakeGemini.url,
  FIRESTORE_EMULATOR_HOST: firestoreEmulatorHost(),
  PUBSUB_EMULATOR_HOST: pubsubEmulatorHost(),
  FIREBASE_AUTH_EMULATOR_HOST: '127.0.0.1:9099',
});

/** The function as the buildpack starts it. */
async function start(target: 'chat' | 'compaction'): Promise<string> {
  const port = await chooseFreePort(0, new Set());
  const child = spawn(process.execPath, [join('node_modules', '.bin', 'functions-framework')], {
    cwd: folder,
    env: { ...environment(), ...variables(), FUNCTION_TARGET: target, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kept = { child, output: '' };
  started.push(kept);
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (kept.output += data.toString()));
  const url = `http://127.0.0.1:${port}`;
  await eventually(`${target} listens`, async () => {
    if (child.exitCode !== null) throw new Error(`${target} ended: ${kept.output}`);
    return fetch(url).then(
      () => true,
      () => undefined,
    );
  });
  return url;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recap-deployed-'));
  fakeGemini = await startFakeGemini();
  for (const [name, content] of Object.entries(unzipSync(toZip(await archiveFiles(root)))))
    await writeFile(join(folder, name), content);
  await inFolder('npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund');
  built = (await inFolder('npm', 'run', 'gcp-build', '--if-present')).stdout;
  await inFolder('npm', 'prune', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline');
  await inFolder(process.execPath, '--check', 'main.cjs');
  const place = { pubsubHost: pubsubEmulatorHost(), projectId };
  await Promise.all(['recap-compaction', 'recap-events'].map((id) => createTopic(place, id)));
  [urls.chat, urls.compaction] = await Promise.all([start('chat'), start('compaction')]);
});

afterAll(async () => {
  for (const { child } of started) {
    if (child.exitCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  await fakeGemini?.close();
  if (folder) await rm(folder, { recursive: true });
});

const conversationId = randomUUID();
const send = (path: string, text: string) =>
  fetch(`${urls.chat}/v1/conversations/${path}/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${unsignedToken({ uid: 'alice', projectId, now: new Date() })}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ message: { id: randomUUID(), parts: [{ type: 'text', text }] } }),
  });

test('the build keeps compiled code in the image', async () => {
  expect(built).toContain('Both functions load');
  expect(await readdir(folder)).toEqual(
    expect.arrayContaining(['index.cjs.compiled', 'sdk.cjs.compiled']),
  );
});

test('the deployed chat answers a message as a stream', async () => {
  const response = await send(conversationId, 'My dog is called Pixel.');
  const stream = await response.text();

  expect(response.headers.get('content-type')).toContain('text/event-stream');
  expect(stream).toContain('"type":"text-delta"');
  expect(stream.trimEnd()).toMatch(/data: \[DONE\]$/);
});

test('the deployed worker acknowledges a push with 204', async () => {
  const event = { schemaVersion: 1, kind: 'compact', conversationId, requestId: randomUUID() };

  const response = await fetch(urls.compaction, { method: 'POST', body: pushOf(event) });

  expect(response.status).toBe(204);
});

test('a stack trace names the source file it comes from', async () => {
  const given = inFolder(process.execPath, 'main.cjs');

  const { stderr } = await given.catch((error: { stderr: string }) => error);

  expect(stderr).toContain('GOOGLE_CLOUD_PROJECT');
  expect(stderr.length).toBeLessThan(4_000);
  expect(stderr).toMatch(/at parseConfig \(\S*functions\/src\/config\.ts:\d+:\d+\)/);
});
