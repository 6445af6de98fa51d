import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import type { Overrides } from '#functions/dependencies.ts';
import { startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { firstText } from '#infra/smoke/chat-steps.ts';
import { SmokeFailure, stepLine } from '#infra/smoke/run-steps.ts';
import { runSmoke } from '#infra/smoke/run-smoke.ts';
import type { SmokeOptions } from '#infra/smoke/smoke-context.ts';
import { AppError } from '#shared/errors.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import { type ProxyFault, faultyProxy } from './faulty-proxy.ts';

type Closing = () => Promise<void>;
const closings: Closing[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

/** Recap on this machine, in one process; `overrides` break a part of it. */
async function startRecap({
  overrides = {},
  settings = {},
}: { overrides?: Overrides; settings?: Record<string, string> } = {}) {
  const fakeGemini = await startFakeGemini();
  closings.push(() => fakeGemini.close());
  const host = await startEmbeddedHost({
    environment: stackEnvironment({
      shell: {},
      model: { kind: 'stand-in' },
      fakeGeminiUrl: fakeGemini.url,
      settings,
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

/** The first message gets an answer of some length, which takes more than a second to come. */
async function answerSlowly(fakeGeminiUrl: string): Promise<void> {
  const userHash = createHash('sha256').update(firstText(CODE_WORD)).digest('hex');
  const text = `${CODE_WORD}, noted. ${'One two three four five six seven eight nine ten. '.repeat(8)}`;
  const contents = [{ role: 'model', parts: [{ text }] }];
  await post(`${fakeGeminiUrl}/control/answers`, { answers: [{ userHash, ordinal: 1, contents }] });
  await post(`${fakeGeminiUrl}/control/timing`, { tokensPerSecond: 80 });
}

async function refuseKey(fakeGeminiUrl: string, code: number): Promise<void> {
  const status = code === 401 ? 'UNAUTHENTICATED' : 'PERMISSION_DENIED';
  const faults = [{ kind: 'http', code, status, times: 100 }];
  await post(`${fakeGeminiUrl}/control/faults`, { faults });
}

/** Nobody is signed in: what needs nobody is looked at, and the rest is skipped. */
const nobody = () =>
  Promise.reject(new SmokeFailure({ tried: 'POST x', came: 'HTTP 400', remedy: 'Turn it on.' }));

describe('a deployment that works', () => {
  test('the smoke check passes on a working deployment and erases its conversation', async () => {
    const { url } = await startRecap();

    const { results, failed } = await check(url);
    expect(failed).toEqual([]);
    expect(results.filter(({ outcome }) => outcome === 'skipped').map(stepLine)).toEqual([
      expect.stringMatching(/^skipped {2}streaming +too few pieces of text/),
    ]);
    expect(results.find(({ name }) => name === 'compact')?.note).toMatch(/generation 1/);
    expect(results.at(-1)).toMatchObject({ name: 'erase', outcome: 'ok' });
  });

  test('the smoke check does not report buffering for a stream that arrives piecewise', async () => {
    const { url, fakeGemini } = await startRecap();
    await answerSlowly(fakeGemini.url);

    const { results } = await check(url, { waitMs: 1, codeWord: CODE_WORD });

    expect(results.find(({ name }) => name === 'streaming')).toMatchObject({
      outcome: 'ok',
      note: expect.stringMatching(/^\d+ pieces of text, one after another$/),
    });
  });

  test('the smoke check erases only its conversation, or its own user as well', async () => {
    const { url, fakeGemini } = await startRecap();
    await refuseKey(fakeGemini.url, 403);

    const { results } = await check(url, { isOwnUser: true });

    expect(results.at(-1)).toMatchObject({
      outcome: 'ok',
      note: 'the conversation and the user of this check',
    });
  });
});

describe('a compaction that never comes', () => {
  test.each<[string, Overrides]>([
    ['the worker is down', { publisher: { publish: () => Promise.resolve() } }],
    ['Pub/Sub takes no event', { publisher: { publish: () => Promise.reject(new Error('no')) } }],
    [
      'the worker takes tokens of another audience',
      {
        pushTokens: {
          verify: () =>
            Promise.reject(
              new AppError({
                status: 'UNAUTHENTICATED',
                reason: 'PUSH_TOKEN_INVALID',
                message: 'another audience',
                publicMessage: 'no',
              }),
            ),
        },
      },
    ],
  ])(
    'the smoke check of a missing compaction says where to look, and continues: %s',
    async (_, overrides) => {
      const { url } = await startRecap({ overrides });

      const { failed, outcomes } = await check(url, { waitMs: 1_000 });

      expect(failed[0]).toMatch(/^FAILED compact: POST \S+:compact: still QUEUED after \d+ s\. /);
      expect(failed[0]).toContain('compaction_publish_failed');
      expect(failed[0]).toContain('dead letters');
      expect(failed[0]).toContain('PUSH_AUDIENCE');
      expect(outcomes).toMatchObject({ snapshot: 'skipped', send: 'ok' });
    },
  );

  test('the smoke check reports a refused summariser by the compaction’s outcome', async () => {
    const { url, fakeGemini } = await startRecap();
    const fault = { kind: 'http', code: 403, status: 'PERMISSION_DENIED' };
    const match = { operation: 'generateContent' };
    await post(`${fakeGemini.url}/control/faults`, { faults: [{ ...fault, match, times: 100 }] });

    const { failed } = await check(url, { waitMs: 5_000 });

    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatch(/^FAILED compact: .*: FAILED_ERROR \(MODEL_REFUSED_REQUEST\)/);
    expect(failed[0]).toContain('COMPRESSOR_MODEL');
  });
});

describe('an answer that does not come', () => {
  test.each([401, 403])(
    'the smoke check reports a model that refuses the key with %i',
    async (code) => {
      const { url, fakeGemini } = await startRecap();
      await refuseKey(fakeGemini.url, code);

      const { failed, outcomes } = await check(url);

      expect(failed).toHaveLength(1);
      expect(failed[0]).toMatch(/^FAILED send: POST \S+\/messages/);
      expect(failed[0]).toContain('MODEL_REFUSED_REQUEST');
      expect(failed[0]).toContain('GEMINI_API_KEY');
      expect(outcomes).toMatchObject({ compact: 'skipped', erase: 'ok' });
    },
  );

  test.each([
    {
      what: 'a wrong key, a 400 of the Gemini API',
      fault: { code: 400, status: 'INVALID_ARGUMENT', reason: 'API_KEY_INVALID' },
      told: ['MODEL_REFUSED_REQUEST', 'not allowed to ask the model', 'GEMINI_API_KEY'],
    },
    {
      what: 'a quota that is used up',
      fault: { code: 429, status: 'RESOURCE_EXHAUSTED' },
      told: ['MODEL_QUOTA', 'VERTEX_LOCATION=global'],
    },
  ])('the smoke check reports $what and its fix', async ({ fault, told }) => {
    const { url, fakeGemini } = await startRecap();
    const faults = [{ kind: 'http', ...fault, times: 100 }];
    await post(`${fakeGemini.url}/control/faults`, { faults });

    const { failed } = await check(url);

    expect(failed).toHaveLength(1);
    for (const words of told) expect(failed[0]).toContain(words);
  });

  test('the smoke check reports a read-only database at the first step that writes', async () => {
    const store = createMemoryDocumentStore();
    const commit = () =>
      Promise.reject(
        new AppError({
          status: 'INTERNAL',
          reason: 'STORE_REFUSED',
          message: 'permission denied',
          publicMessage: 'no',
        }),
      );
    const { url } = await startRecap({ overrides: { store: { ...store, commit } } });

    const { failed, outcomes } = await check(url);

    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatch(/^FAILED create: .*STORE_REFUSED.*roles\/datastore\.user/);
    expect(outcomes).toMatchObject({ send: 'skipped', erase: 'skipped' });
  });

  test('the smoke check reports another project’s token with reason and request id', async () => {
    const { url } = await startRecap();

    const { failed, outcomes } = await check(url, { projectId: 'demo-other' });

    expect(failed).toHaveLength(1);
    expect(failed[0]).toMatch(
      /^FAILED create: POST \S+: HTTP 401, ID_TOKEN_INVALID, .* request \S+\./,
    );
    expect(failed[0]).toContain('GOOGLE_CLOUD_PROJECT');
    expect(outcomes).toMatchObject({ send: 'skipped', erase: 'skipped' });
  });

  test('the smoke check reports a failed sign-in as its own step', async () => {
    const { url } = await startRecap();

    const { failed, outcomes } = await check(url, { signIn: nobody });

    expect(failed).toEqual(['FAILED sign-in: POST x: HTTP 400. Turn it on.']);
    expect(outcomes['create']).toBe('skipped');
  });

  test.each([
    { reason: 'STORE_REFUSED', status: 'INTERNAL', remedy: 'roles/datastore.user', code: 500 },
    { reason: 'STORE_UNAVAILABLE', status: 'UNAVAILABLE', remedy: 'indexes built', code: 503 },
  ] as const)('the smoke check reports a database that answers $reason', async (given) => {
    const { reason, status, remedy, code } = given;
    const store = createMemoryDocumentStore();
    const refuse = () =>
      Promise.reject(new AppError({ status, reason, message: 'no index', publicMessage: 'no' }));
    const { url } = await startRecap({ overrides: { store: { ...store, get: refuse } } });

    const { failed } = await check(url);

    expect(failed[0]).toContain(`HTTP ${code}, ${reason}`);
    expect(failed[0]).toContain(remedy);
  });
});

describe('proxies and other obstacles', () => {
  test('the smoke check detects a proxy that buffers events', async () => {
    const { url, fakeGemini } = await startRecap();
    await answerSlowly(fakeGemini.url);

    const { failed } = await check(await behind(url, { kind: 'buffers' }), {
      waitMs: 1,
      codeWord: CODE_WORD,
    });

    expect(failed[0]).toMatch(/^FAILED streaming: .*: \d+ pieces of text came within \d+ ms/);
    expect(failed[0]).toContain('buffering');
  });

  test('the smoke check reports how far a cut stream came', async () => {
    const { url } = await startRecap();

    const { failed } = await check(await behind(url, { kind: 'cuts', afterBytes: 100 }));

    expect(failed[0]).toMatch(/^FAILED send: .* ended after \d+ events without \[DONE\]/);
  });

  test.each([
    [403, 'allUsers'],
    [404, 'terraform output -raw chat_url'],
    [503, 'the environment is not usable'],
  ])(
    'the smoke check recognises Google’s front-end page with status %i',
    async (status, remedy) => {
      const fault = { kind: 'answers', status, html: '<h1>Error</h1>' } as const;

      const { failed, results } = await check(await behind('http://127.0.0.1:9', fault));

      expect(failed).toHaveLength(1);
      expect(failed[0]).toContain(`HTTP ${status}, no reason of Recap’s, "Error"`);
      expect(failed[0]).toContain(remedy);
      expect(results.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(
        results.length - 1,
      );
    },
  );

  test('the smoke check reports an address where nobody listens', async () => {
    const { failed } = await check('http://127.0.0.1:9');

    expect(failed[0]).toMatch(/^FAILED health: GET http:\/\/127\.0\.0\.1:9\/v1\/health: no answer/);
  });
});

describe('npm run smoke', () => {
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
    expect(report).toContain(`; Node ${process.version}`);
    expect(report).not.toContain('my-token');
  });

  test('npm run smoke names --report after a failure', async () => {
    const { stderr } = await run('--url', 'http://127.0.0.1:9');

    expect(stderr).toContain('to report this, run it with --report FILE');
  });

  test('npm run smoke refuses a report file that cannot be written before it begins', async () => {
    const file = join(tmpdir(), randomUUID(), 'smoke.md');

    const { code, stdout, stderr } = await run('--url', 'http://127.0.0.1:9', '--report', file);

    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(file);
  });

  test('npm run smoke ends with 2 and its usage for wrong arguments', async () => {
    const { code, stderr } = await run();

    expect(code).toBe(2);
    expect(stderr).toMatch(/^--url is missing.*\n\nUsage: npm run smoke/);
  });
});
