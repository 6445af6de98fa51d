import OpenAI from 'openai';
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
  rename,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { SHIPPED } from '#infra/package/archive.ts';
import { chooseFreePort } from '#infra/local/processes/open-server.ts';
import { once } from 'node:events';
import { eventually } from '#test/support/eventually.ts';
import { AbstractChat, DefaultChatTransport, type UIMessage } from 'ai';
import {
  createPackedProject,
  packedApp as app,
  type PackedProject,
} from '#test/support/processes/packed-project.ts';
import { plainTransport } from '#test/clients/ui-chat.ts';
import { chatState } from '#test/support/wire/use-chat.ts';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const run = promisify(execFile);

/** What `useChat` is, without a framework around it. */
class Chat extends AbstractChat<UIMessage> {}

let packed: PackedProject;
let project: string;

beforeAll(async () => {
  packed = await createPackedProject();
  project = packed.folder;
});
afterAll(() => packed?.remove());

const recap = (...parameters: string[]) => packed.recap(...parameters);

/** The project's own entry, for one test. */
const withEntry = (text: string) => writeFile(join(project, 'index.ts'), text);

/** Runs the project until the test ends; `by` is the command that runs it. */
async function dev({
  by = [process.execPath],
  options = [],
}: { by?: readonly string[]; options?: readonly string[] } = {}) {
  const port = await chooseFreePort(0, new Set());
  const [program = '', ...before] = by;
  const { GEMINI_API_KEY: _, ...environment } = process.env;
  const child = spawn(
    program,
    [...before, packed.command, 'dev', '--embedded', '--port', String(port), ...options],
    {
      cwd: project,
      env: { ...environment, npm_command: 'exec' },
    },
  );
  const ended = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let shown = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  /** What was shown up to this text, once it is; what comes after it is shown by the next call. */
  const says = (text: string): Promise<string> =>
    eventually(
      `recap dev says ${text}`,
      async () => {
        const at = shown.indexOf(text);
        if (at < 0) return undefined;
        const said = shown.slice(0, at);
        shown = shown.slice(at + text.length);
        return said;
      },
      20_000,
    );
  const banner = await says('Ctrl-C ends all of it.');
  const url = /^ {2}chat +(http:\S+)/m.exec(banner)?.[1] ?? '';
  return { child, ended, says, banner, url };
}

const isListening = (url: string) =>
  fetch(`${url}/v1/health`).then(
    () => true,
    () => false,
  );

/** Sends a message to a project that runs; the answer as JSON. */
async function ask(url: string, text: string, claims: Record<string, unknown> = {}) {
  const user = { uid: 'ada', projectId: localProjectId, now: new Date(), claims };
  const response = await fetch(`${url}/v1/conversations/${randomUUID()}/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${unsignedToken(user)}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ message: { id: randomUUID(), parts: [{ type: 'text', text }] } }),
  });
  return { status: response.status, text: await response.text() };
}

/** An empty folder that has Recap, and of its dependencies zod alone; removed after the test. */
async function emptyFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const empty = await mkdtemp(join(tmpdir(), 'recap-alone-'));
  onTestFinished(() => rm(empty, { recursive: true, force: true }));
  const modules = join(empty, 'node_modules');
  // A copy: what a link names would find the packages of this repository.
  await cp(join(project, 'node_modules/recap'), join(modules, 'recap'), { recursive: true });
  await cp(join(root, 'node_modules/zod'), join(modules, 'zod'), { recursive: true });
  await symlink(join(root, 'node_modules/@types'), join(modules, '@types'));
  await writeFile(join(empty, 'package.json'), '{"type":"module"}');
  for (const [name, text] of Object.entries(files)) await writeFile(join(empty, name), text);
  return empty;
}

const compacting = `import { compact, type CompactResult } from 'recap/compaction';

const contents = Array.from({ length: 60 }, (_, at) => ({
  role: at % 2 === 0 ? ('user' as const) : ('model' as const),
  parts: [{ text: \`Turn \${at}: \${'all of it is done. '.repeat(40)}\` }],
}));
const items = [{ text: 'all of it is done', sources: [1] }];
const result: CompactResult = await compact({
  contents,
  policy: { thresholdTokens: 4_000 },
  model: () =>
    JSON.stringify({ operations: [{ op: 'add', section: 'key_knowledge', items }], topics: [] }),
});
console.log(result.report.state, result.snapshot?.statements.sections['key_knowledge']?.[0]?.text);
`;

describe('the npm package', () => {
  test('unpacked it has 5 MB at most', async () => {
    const entries = await readdir(join(project, 'node_modules/recap'), {
      recursive: true,
      withFileTypes: true,
    });
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(
      files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );

    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(5_000_000);
  });

  test('recap/compaction runs, with types, where none of its packages but zod is installed', async () => {
    const empty = await emptyFolder({ 'index.ts': compacting });
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const strict = '--noEmit --strict --module nodenext --target es2024 --types node'.split(' ');
    const compile = () => run(process.execPath, [tsc, ...strict, 'index.ts'], { cwd: empty });

    expect((await run(process.execPath, ['index.ts'], { cwd: empty })).stdout).toBe(
      'COMPACTED all of it is done\n',
    );
    await expect(compile()).resolves.toMatchObject({ stdout: '' });
    await writeFile(
      join(empty, 'index.ts'),
      compacting.replace("'model' as const", "'assistant' as const"),
    );
    await expect(compile()).rejects.toMatchObject({
      stdout: expect.stringContaining(`'"assistant"' is not assignable`),
    });
  });

  test('a new project has types that hold: it compiles, and a tool whose input is wrong does not', async () => {
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const compile = () => run(process.execPath, [tsc, '-p', project], { cwd: project });
    // The project's own packages, as npm would have put them.
    for (const name of ['zod', '@types'])
      await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name));
    await expect(compile()).resolves.toMatchObject({ stdout: '' });

    await withEntry(app.replace('run: ({ place }', 'run: ({ town }'));

    await expect(compile()).rejects.toMatchObject({
      stdout: expect.stringContaining(`Property 'town' does not exist`),
    });
  });

  test('a project runs by recap dev and answers with its own tool over curl, useChat and OpenAI’s SDK', async () => {
    await withEntry(app);
    const { url, banner } = await dev({ options: ['--claims', '{"plan":"gold"}'] });
    const token = /RECAP_TOKEN='(.+)'/.exec(banner)?.[1] ?? '';
    const text = 'call weather {"place":"Bern"}';
    const message = { id: randomUUID(), parts: [{ type: 'text', text }] };

    const curl = await run('curl', [
      '-sSN',
      `${url}/v1/conversations/${randomUUID()}/messages`,
      `-HAuthorization: Bearer ${token}`,
      '-HContent-Type: application/json',
      '-HAccept: text/event-stream',
      `-d${JSON.stringify({ message })}`,
    ]);
    const chat = new Chat({
      id: randomUUID(),
      state: chatState<UIMessage>(),
      transport: new DefaultChatTransport(plainTransport({ url, token, project: localProjectId })),
    });
    await chat.sendMessage({ text });
    const completion = await new OpenAI({
      baseURL: `${url}/v1/openai`,
      apiKey: token,
    }).chat.completions.create({
      model: 'recap',
      messages: [{ role: 'user', content: text }],
      metadata: { conversation_id: randomUUID() },
    });

    expect(curl.stdout).toMatch(/"type":"tool-output-available"[^]*Snow in Bern, ada[^]*\[DONE\]/);
    expect(JSON.stringify(chat.messages.at(-1))).toContain('Snow in Bern, ada');
    expect(completion.choices[0]?.message.content).toContain('Snow in Bern, ada');
    expect(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).toContain(
      '"plan":"gold"',
    );
    expect(banner).toMatch(/model +http:\S+ +fake Gemini/);
    expect(banner).not.toMatch(/npm (?:start|run)/);
  });

  test('recap dev names the app’s own model, and starts again when its settings or a file that an editor replaced change', async () => {
    const model = `{ specificationVersion: 'v4', provider: 'acme', modelId: 'acme-large' }`;
    const own = app
      .replace('defineRecap, tool', 'defineRecap, fromAiSdk, tool')
      .replace('tools: [weather]', `tools: [weather], model: fromAiSdk(${model} as never)`);
    await withEntry(own);
    const { says, banner } = await dev();
    expect(banner).toMatch(/model +acme-large, the model of the app/);

    await writeFile(join(project, 'index.ts~'), app.replace('Snow in', '${process.env.ACME} in'));
    await rename(join(project, 'index.ts~'), join(project, 'index.ts'));
    await says('functions is back');
    await writeFile(join(project, '.env'), 'ACME=Sun\n');
    onTestFinished(() => rm(join(project, '.env'), { force: true }));
    await says('.env has changed');
    await says('functions is back');
  });

  test.each([
    [
      'an error of its module',
      `const nothing = null as never;\nnothing['much'];\n${app}`,
      /TypeError: Cannot read properties of null[^]*index\.ts:\d+:\d+/,
    ],
    [
      'a field that nobody knows',
      app.replace('beforeTurn:', 'beforTurn:'),
      /does not know beforTurn[^]*index\.ts:\d+:\d+/,
    ],
    ['a wrong setting', `process.env['THRESHOLD_TOKENS'] = 'many';\n${app}`, /THRESHOLD_TOKENS/],
    ['an end of its own', `process.exit(0);\n${app}`, /ended: exit code 0/],
  ])(
    'recap dev tells once of %s, without frames of Recap, and starts at the next save',
    async (_, broken, problem) => {
      await withEntry(broken);
      const { banner, says, url } = await dev();

      expect(banner.match(new RegExp(problem, 'g'))).toHaveLength(1);
      expect(banner).not.toMatch(/node_modules|node:internal|at .*recap/);

      await says('they start again when a source or .env changes');
      await withEntry(app);
      await says('functions is back');
      expect((await ask(url, 'Hello')).status).toBe(200);
    },
  );

  test.each<[string, NodeJS.Signals]>([
    ['SIGTERM', 'SIGTERM'],
    ['SIGINT', 'SIGINT'],
  ])('recap dev ends with all its servers at %s', async (_, signal) => {
    await withEntry(app);
    const { child, ended, url } = await dev();

    child.kill(signal);
    await ended;

    expect(await isListening(url)).toBe(false);
  });

  test('recap dev ends when the npm that runs it is killed', async () => {
    await withEntry(app);
    // As npx does it: a process that runs a shell, which runs the command.
    const npx = `require('node:child_process').spawn(
      'sh', ['-c', '"$0" "$@"; true', process.execPath, ...process.argv.slice(1)], { stdio: 'inherit' },
    )`;
    const { child, url } = await dev({ by: [process.execPath, '-e', npx] });

    child.kill('SIGKILL');

    await expect.poll(() => isListening(url), { timeout: 10_000 }).toBe(false);
  });

  test('a server of the app acts for a user with recap/admin, which loads nothing of the functions', async () => {
    await withEntry(app);
    const { url } = await dev();
    await writeFile(
      join(project, 'server.ts'),
      `import { recapAdmin } from 'recap/admin';
const recap = recapAdmin({ baseUrl: '${url}' });
const { text } = await recap.send('ada', 'call weather {"place":"Bern"}');
console.log(text);
`,
    );

    const { stdout } = await run(process.execPath, ['server.ts'], { cwd: project });

    expect(stdout).toContain('Snow in Bern, ada');
    const module = await readFile(join(project, 'node_modules/recap/dist/npm/admin.js'), 'utf8');
    expect(module).not.toMatch(/@google-cloud|hono/);
  });

  test('a project is packed by recap package into the archive that Terraform deploys', async () => {
    await withEntry(app);

    await recap('package');

    const zip = unzipSync(await readFile(join(project, 'dist/recap.zip')));
    expect(Object.keys(zip)).toEqual(SHIPPED);
    expect(Buffer.from(zip['index.cjs'] ?? []).toString()).toContain('The weather at a place.');
  });

  test('a project whose packages are linked, as pnpm does it, is packed all the same', async () => {
    const linked = await mkdtemp(join(tmpdir(), 'recap-linked-'));
    onTestFinished(() => rm(linked, { recursive: true }));
    const store = join(linked, 'node_modules/.pnpm/recap@0/node_modules');
    await mkdir(store, { recursive: true });
    await cp(join(project, 'node_modules/recap'), join(store, 'recap'), { recursive: true });
    await symlink(join(store, 'recap'), join(linked, 'node_modules/recap'));
    const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
      await readFile(join(store, 'recap/package.json'), 'utf8'),
    );
    for (const name of Object.keys(dependencies)) {
      await mkdir(dirname(join(store, name)), { recursive: true });
      await symlink(join(root, 'node_modules', name), join(store, name));
    }
    await symlink(join(root, 'node_modules/zod'), join(linked, 'node_modules/zod'));
    await cp(join(project, 'package.json'), join(linked, 'package.json'));
    await writeFile(join(linked, 'index.ts'), app);

    const command = join(linked, 'node_modules/recap/dist/npm/recap.js');
    await run(process.execPath, [command, 'package'], { cwd: linked });

    const zip = unzipSync(await readFile(join(linked, 'dist/recap.zip')));
    expect(Object.keys(zip)).toEqual(SHIPPED);
    expect(Buffer.from(zip['index.cjs'] ?? []).toString()).toContain('The weather at a place.');
  });

  test('recap tells its commands, and a folder that it cannot write into', async () => {
    const { stdout } = await recap('--help');

    expect(stdout).toMatch(/init FOLDER[\s\S]*dev[\s\S]*package[\s\S]*ops[\s\S]*smoke/);
    await expect(recap('init', '.')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not empty: name a new folder'),
    });
    for (const name of ['deploy', 'constructor'])
      await expect(recap(name)).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`recap knows no command "${name}"`),
      });
  });

  test.each([['dev'], ['package'], ['ops'], ['smoke']])(
    'the help of recap %s names itself as a project calls it, and no command of Recap’s repository',
    async (name) => {
      const { stdout } = await recap(name, '--help');

      expect(stdout).toContain(`npx recap ${name}`);
      expect(stdout).not.toMatch(/npm (?:start|run)/);
    },
  );
});
