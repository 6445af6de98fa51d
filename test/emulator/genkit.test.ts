import { once } from '#shared/lib/once.ts';
import { compactionSnapshotSchema, type SummaryFunction } from '#functions/recap-compaction.ts';
import { compileTypeScript } from '#test/recipes/compile-recipes.ts';
import { lockerCode, lockerTurn, notingFacts } from '#test/support/compaction/fact-summariser.ts';
import {
  demoProjectId,
  firestoreEmulatorHost,
} from '#test/support/processes/emulator-environment.ts';
import { installPackages, loadInstalled } from '#test/support/processes/install-packages.ts';
import { loadExample } from '#test/support/tools/load-example.ts';
import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';

/*
 * docs/examples/genkit.ts with Genkit itself, its agents and its Firestore session store, over 120 turns of which every fifth
 * calls a tool. Genkit brings 490 packages: they are installed beside those of this repository.
 */

firestoreEmulatorHost();

const root = new URL('../../', import.meta.url);
const manifest = new URL('lab/bench/peers/genkit/package.json', root);
const installed = await installPackages(manifest, 'the middleware for Genkit');
const packages = 'folder' in installed ? installed.folder : '';

const TURNS = 120;
/** About 4 characters each. */
const THRESHOLD_TOKENS = 2_400;

interface Message {
  role: string;
  content: { text?: string; toolRequest?: object; toolResponse?: object }[];
}

interface Session {
  state: { messages: Message[]; custom?: { compaction?: unknown } };
}

interface Store {
  getSnapshot(of: { sessionId: string }): Promise<Session | undefined>;
}

interface Agent {
  chat(init: { sessionId: string }): {
    send(text: string): Promise<{ text: string; finishReason: string }>;
  };
}

interface Genkit {
  defineModel(options: object, run: (request: { messages: Message[] }) => Promise<object>): unknown;
  defineTool(options: object, run: (input: object) => Promise<object>): unknown;
  defineAgent(config: object): Agent;
}

const load = <Used>(name: string) => loadInstalled<Used>(packages, name);

const recap = new URL('functions/src/recap-compaction.ts', root);

/** Finds the packages as the folder does in which they are installed, which others use, too. */
const folder = await mkdtemp(join(tmpdir(), 'recap-genkit-'));
await symlink(join(packages, 'node_modules'), join(folder, 'node_modules'));
afterAll(() => rm(folder, { recursive: true }));

const example = once(() =>
  loadExample<{ compacted: (options: object) => object }>('genkit', folder),
);

interface Compacting {
  model: SummaryFunction;
  onError: (error: unknown) => void;
}

/** An agent as its README shows it, whose model says the words of the turn; `lengths`: of the longest prompt of each. */
async function openAgent(options?: Compacting) {
  const { genkit, z } = await load<{
    genkit: (options: object) => Genkit;
    z: { object: (shape: object) => object; number: () => object };
  }>('genkit/beta');
  const { FirestoreSessionStore } = await load<{
    FirestoreSessionStore: new (options: object) => Store;
  }>('@genkit-ai/google-cloud/beta');
  const { Firestore } = await load<{ Firestore: new (options: object) => object }>(
    '@google-cloud/firestore',
  );
  const store = new FirestoreSessionStore({ db: new Firestore({ projectId: demoProjectId() }) });
  const ai = genkit({});
  const lengths: number[] = [];
  let turn = 0;
  const model = ai.defineModel(
    { name: 'scripted', supports: { tools: true, multiturn: true, systemRole: true } },
    ({ messages }) => {
      const last = messages.at(-1);
      const isCalling = last?.role === 'user' && ++turn % 5 === 0;
      lengths[turn - 1] = Math.max(lengths[turn - 1] ?? 0, JSON.stringify(messages).length);
      const toolRequest = { name: 'check', ref: `call-${turn}`, input: { turn } };
      const content = isCalling ? [{ toolRequest }] : [{ text: lockerTurn(turn).answer }];
      return Promise.resolve({ message: { role: 'model', content }, finishReason: 'stop' });
    },
  );
  const check = ai.defineTool(
    {
      name: 'check',
      description: 'Checks a turn.',
      inputSchema: z.object({ turn: z.number() }),
    },
    (input) => Promise.resolve({ ...input, isFine: true }),
  );
  const { compacted } = await example();
  const policy = { thresholdTokens: THRESHOLD_TOKENS };
  const agent = ai.defineAgent({
    name: 'assistant',
    model,
    system: 'You are a helpful guide.',
    tools: [check],
    store,
    ...(options && { use: [compacted({ ...options, policy })] }),
  });
  return { agent, store, lengths };
}

/** What was said in a session, without what Genkit notes of it. */
const saidIn = ({ state }: Session) =>
  state.messages.map(({ role, content }) => ({
    role,
    content: content.map(({ text, toolRequest, toolResponse }) => ({
      text,
      toolRequest,
      toolResponse,
    })),
  }));

async function talk(options?: Compacting, turns = TURNS) {
  const { agent, store, lengths } = await openAgent(options);
  const sessionId = randomUUID();
  for (let turn = 1; turn <= turns; turn += 1) {
    const { user, answer } = lockerTurn(turn);
    const said = await agent.chat({ sessionId }).send(user);
    expect(said).toMatchObject({ text: answer, finishReason: 'stop' });
  }
  const session = await store.getSnapshot({ sessionId });
  if (!session) throw new Error('the session is not stored');
  return { lengths, session };
}

function rethrow(error: unknown): never {
  throw error;
}

const longest = (lengths: readonly number[], from: number, through: number): number =>
  Math.max(...lengths.slice(from - 1, through));

describe.skipIf('missing' in installed)('the middleware for Genkit', () => {
  test('compacts 120 turns: prompts stay bounded, the session keeps all, and facts of folded turns are told', async () => {
    const [plain, { lengths, session }] = await Promise.all([
      talk(),
      talk({ model: notingFacts, onError: rethrow }),
    ]);
    const snapshot = compactionSnapshotSchema.parse(session.state.custom?.compaction);
    expect(longest(lengths, 61, TURNS)).toBeLessThan(1.1 * longest(lengths, 1, 60));
    expect(longest(lengths, 1, TURNS)).toBeLessThan(6 * THRESHOLD_TOKENS);
    expect(plain.lengths.at(-1)).toBeGreaterThan(4 * longest(lengths, 1, TURNS));
    expect(saidIn(session)).toEqual(saidIn(plain.session));
    expect(saidIn(session)).toHaveLength(2 * TURNS + (2 * TURNS) / 5);
    for (let turn = 1; turn < snapshot.nextTurn; turn += 10)
      expect(snapshot.text).toContain(`locker ${turn}: ${lockerCode(turn)}`);
    expect(snapshot.nextTurn).toBeGreaterThan(108);
  }, 300_000);

  test('a summariser that is away costs no answer, and nothing of the session', async () => {
    const away = () => Promise.reject(new Error('away'));

    const errors: unknown[] = [];
    const onError = (error: unknown) => void errors.push(error);
    const { lengths, session } = await talk({ model: away, onError }, 40);

    expect(saidIn(session)).toHaveLength(2 * 40 + (2 * 40) / 5);
    expect(session.state.custom?.compaction).toBeUndefined();
    expect(lengths).toHaveLength(40);
    expect(errors).toContainEqual(new Error('away'));
  });

  test('compiles against the types of Genkit', async () => {
    await copyFile(new URL('docs/examples/genkit.ts', root), join(folder, 'example.ts'));

    const problems = await compileTypeScript(folder, {
      files: ['example.ts'],
      compilerOptions: {
        target: 'es2024',
        lib: ['es2024', 'esnext.disposable'],
        module: 'nodenext',
        strict: true,
        noUncheckedIndexedAccess: true,
        types: ['node'],
        typeRoots: [fileURLToPath(new URL('node_modules/@types', root))],
        paths: { 'recap/compaction': [fileURLToPath(recap)] },
        allowImportingTsExtensions: true,
        skipLibCheck: true,
        noEmit: true,
      },
    });

    expect(problems).toEqual([]);
  });
});
