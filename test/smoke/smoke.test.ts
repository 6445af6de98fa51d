import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import type { Overrides } from '#functions/dependencies.ts';
import { startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { firstText, runSmoke, type SmokeOptions } from '#infra/smoke/run-smoke.ts';
import { stepLine } from '#infra/smoke/run-steps.ts';
import { AppError } from '#shared/lib/errors.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { type ProxyFault, faultyProxy } from './faulty-proxy.ts';

type Closing = () => Promise<void>;
const closings: Closing[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** Recap on this machine, in one process; `overrides` break a part of it. */
async function startRecap({ overrides = {} }: { overrides?: Overrides } = {}) {
  const fakeGemini = await startFakeGemini();
  closings.push(() => fakeGemini.close());
  const host = await startEmbeddedHost({
    environment: stackEnvironment({
      shell: {},
      model: { kind: 'fake-gemini' },
      fakeGeminiUrl: fakeGemini.url,
    }),
    overrides: { logger: { log: () => undefined }, ...overrides },
    push: { minBackoffSeconds: 1, maxBackoffSeconds: 1 },
  });
  closings.push(() => host.stop());
  return { url: host.chatUrl, fakeGemini };
}

async function behind(url: string, fault: ProxyFault): Promise<string> {
  const proxy = await openServer(faultyProxy(url, fault));
  closings.push(proxy.close);
  return proxy.url;
}

const tokenOf = (projectId: string) =>
  unsignedToken({ uid: `smoke-${randomUUID()}`, projectId, now: new Date() });

/** The results by the names of the steps. */
async function check(url: string, options: Partial<SmokeOptions> & { projectId?: string } = {}) {
  const { projectId = localProjectId, ...rest } = options;
  const results = await runSmoke(url, {
    waitMs: 20_000,
    pollMs: 30,
    isOwnUser: false,
    signIn: () =>
      Promise.resolve({
        headers: { authorization: `Bearer ${tokenOf(projectId)}` },
        who: 'a test',
      }),
    progress: () => undefined,
    ...rest,
  });
  return {
    results,
    outcomes: Object.fromEntries(results.map(({ name, outcome }) => [name, outcome])),
    failed: results.filter(({ outcome }) => outcome === 'failed').map(stepLine),
  };
}

const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body) });

const CODE_WORD = 'zebra000000';

/** The first message of both checks gets an answer of some length, which takes more than a second to come. */
async function answerSlowly(fakeGeminiUrl: string): Promise<void> {
  const userHash = createHash('sha256').update(firstText(CODE_WORD)).digest('hex');
  const text = `${CODE_WORD}, noted. ${'One two three four five six seven eight nine ten. '.repeat(8)}`;
  const contents = [{ role: 'model', parts: [{ text }] }];
  const answers = [1, 2].map((ordinal) => ({ userHash, ordinal, contents }));
  await post(`${fakeGeminiUrl}/control/answers`, { answers });
  await post(`${fakeGeminiUrl}/control/timing`, { tokensPerSecond: 80 });
}

test('the smoke check passes on a working deployment and erases its conversation and its own user', async () => {
  const { url } = await startRecap();

  const { results, failed } = await check(url, { isOwnUser: true });

  expect(failed).toEqual([]);
  expect(results.filter(({ outcome }) => outcome === 'skipped').map(stepLine)).toEqual([
    expect.stringMatching(/^skipped {2}streaming +too few pieces of text/),
  ]);
  expect(results.find(({ name }) => name === 'compact')?.note).toMatch(/generation 1/);
  expect(results.at(-1)).toMatchObject({
    name: 'erase',
    outcome: 'ok',
    note: 'the conversation and the user of this check',
  });
});

test('the smoke check tells a stream that arrives piecewise from one that a proxy buffers', async () => {
  const { url, fakeGemini } = await startRecap();
  await answerSlowly(fakeGemini.url);
  const options = { waitMs: 1, codeWord: CODE_WORD };

  const direct = await check(url, options);
  const buffered = await check(await behind(url, { kind: 'buffers' }), options);

  expect(direct.results.find(({ name }) => name === 'streaming')).toMatchObject({
    outcome: 'ok',
    note: expect.stringMatching(/^\d+ pieces of text, one after another$/),
  });
  expect(buffered.failed[0]).toMatch(
    /^FAILED streaming: .*: \d+ pieces of text came within \d+ ms.*buffering/,
  );
});

const storeError = (reason: string, status: 'INTERNAL' | 'UNAVAILABLE') => () =>
  Promise.reject(new AppError({ status, reason, message: 'no', publicMessage: 'no' }));
const http = (code: number, status: string, more: object = {}) => ({
  kind: 'http',
  code,
  status,
  times: 100,
  ...more,
});

interface Broken {
  what: string;
  overrides?: Overrides;
  /** Of the model. */
  fault?: object;
  options?: Parameters<typeof check>[1];
  /** The step that fails, what came and what to do. */
  told: RegExp;
  /** The first step that is skipped for it. */
  skips: string;
}

const store = createMemoryDocumentStore();
const broken: Broken[] = [
  {
    what: 'a worker that nobody calls',
    overrides: { publisher: { publish: () => Promise.resolve() } },
    options: { waitMs: 1_000 },
    told: /^FAILED compact: POST \S+:compact: still QUEUED after \d+ s\. .*compaction_publish_failed.*PUSH_AUDIENCE.*dead letters/,
    skips: 'snapshot',
  },
  {
    what: 'a summariser that is refused',
    fault: http(403, 'PERMISSION_DENIED', { match: { operation: 'generateContent' } }),
    options: { waitMs: 5_000 },
    told: /^FAILED compact: .*: FAILED_ERROR \(MODEL_REFUSED_REQUEST\).*COMPRESSOR_MODEL/,
    skips: 'snapshot',
  },
  {
    what: 'a wrong key, a 400 of the Gemini API',
    fault: http(400, 'INVALID_ARGUMENT', { reason: 'API_KEY_INVALID' }),
    told: /^FAILED send: POST \S+\/messages.*MODEL_REFUSED_REQUEST.*not allowed to ask the model.*GEMINI_API_KEY/,
    skips: 'compact',
  },
  {
    what: 'a database that may only be read',
    overrides: { store: { ...store, commit: storeError('STORE_REFUSED', 'INTERNAL') } },
    told: /^FAILED create: .*HTTP 500, STORE_REFUSED.*roles\/datastore\.user/,
    skips: 'send',
  },
  {
    what: 'a token of another project',
    options: { projectId: 'demo-other' },
    told: /^FAILED create: POST \S+: HTTP 401, ID_TOKEN_INVALID, .* request \S+\..*GOOGLE_CLOUD_PROJECT/,
    skips: 'send',
  },
];

test.each(broken)(
  'the smoke check reports $what, and what to do',
  async ({ overrides = {}, fault, options, told, skips }) => {
    const { url, fakeGemini } = await startRecap({ overrides });
    if (fault) await post(`${fakeGemini.url}/control/faults`, { faults: [fault] });

    const { failed, outcomes } = await check(url, options);

    expect(failed).toEqual([expect.stringMatching(told)]);
    expect(outcomes[skips]).toBe('skipped');
  },
);

test.each([
  [403, 'allUsers'],
  [404, 'terraform output -raw chat_url'],
  [503, 'the environment is not usable'],
])('the smoke check recognises Google’s front-end page with status %i', async (status, remedy) => {
  const fault = { kind: 'answers', status, html: '<h1>Error</h1>' } as const;

  const { failed, results } = await check(await behind('http://127.0.0.1:9', fault));

  expect(failed).toHaveLength(1);
  expect(failed[0]).toContain(`HTTP ${status}, no reason of Recap’s, "Error"`);
  expect(failed[0]).toContain(remedy);
  expect(results.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(results.length - 1);
});

const script = fileURLToPath(new URL('../../infra/smoke/smoke.ts', import.meta.url));
const run = (...line: string[]) =>
  promisify(execFile)(process.execPath, [script, ...line]).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );

test('npm run smoke --report writes the results for an issue, without the token', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recap-smoke-'));
  closings.push(() => rm(folder, { recursive: true }));
  const file = join(folder, 'smoke.md');
  const said = 'Sign in, my-token.';
  const proxy = await behind('http://127.0.0.1:9', { kind: 'answers', status: 401, html: said });

  const { code, stderr } = await run('--url', proxy, '--token', 'my-token', '--report', file);

  const report = await readFile(file, 'utf8');
  expect(code).toBe(1);
  expect(stderr).toContain(`${file} holds the results`);
  expect(report).toMatch(/^### Smoke check of Recap: failed \(0 ok, 1 failed, 8 not run\)\n/);
  expect(report).toContain('HTTP 401, no reason of Recap’s, "Sign in, [secret]."');
  expect(report).toMatch(/Checked with: Recap \d+\.\d+\.\d+/);
  expect(report).not.toContain('my-token');
});
