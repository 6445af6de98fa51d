import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startEmulators } from '#infra/local/emulators.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { once } from '#shared/lib/once.ts';
import { emptyFunctionFolder, packedFolder, printedBy, root } from '../cold-start/packed.ts';
import { msUntilAnswered, NOBODY_THERE } from '../cold-start/start-function.ts';
import { startFakeGeminiHost } from '../hosts/start-host.ts';
import { atMost, type BenchCase, type BenchGroup } from '../measure.ts';

/** From the start of a process on, beside a function that does nothing. */
const coldCase = (benchCase: Pick<BenchCase, 'name' | 'aim' | 'ours'>): BenchCase => ({
  ...benchCase,
  unit: 'ms',
  referenceName: 'an empty function of the framework',
  samples: 11,
  reference: () =>
    msUntilAnswered({ folder: emptyFunctionFolder(), target: 'empty' }, '/', { status: 200 }),
});

const firstAnswerOf = (target: string, path: string, status: number) => async () =>
  msUntilAnswered({ folder: await packedFolder(), target }, path, { status });

/** Emulators and the fake Gemini, which answers at once. Throws Error where no emulators are installed. */
async function startWorld() {
  const emulators = await startEmulators({ log: () => undefined });
  if ('missing' in emulators) throw new Error(emulators.missing);
  const fakeGemini = await startFakeGeminiHost();
  return {
    environment: {
      FIRESTORE_EMULATOR_HOST: emulators.firestoreHost,
      PUBSUB_EMULATOR_HOST: emulators.pubsubHost,
      GEMINI_BASE_URL: fakeGemini.url,
    },
    close: async () => {
      await fakeGemini.close();
      await emulators.stop();
    },
  };
}

/** From the start of the process to the first text of the first message. */
async function firstMessageMs(environment: NodeJS.ProcessEnv): Promise<number> {
  const projectId = NOBODY_THERE.GOOGLE_CLOUD_PROJECT;
  const token = unsignedToken({ uid: 'bench', projectId, now: new Date() });
  const parts = [{ type: 'text', text: 'My dog is called Pixel.' }];
  const path = `/v1/conversations/${randomUUID()}/messages`;
  const start = { folder: await packedFolder(), target: 'chat', environment };
  return msUntilAnswered(start, path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ message: { id: randomUUID(), parts } }),
    status: 200,
    wanted: '"type":"text-delta"',
  });
}

/** What is imported, and what it is called in the archive. */
const imports = [
  { from: join(root, 'functions/src/index.ts'), packed: 'main.cjs' },
  { from: '@google-cloud/firestore', packed: 'firestore' },
  { from: '@google/genai', packed: 'genai' },
  { from: '@google-cloud/pubsub', packed: 'pubsub' },
  { from: 'google-auth-library', packed: 'auth' },
];

/** What an import takes of the processor alone in a process, ms. */
const importMs = (...line: string[]): number => {
  const script = join(root, 'lab/bench/cold-start/import-cost.ts');
  return Number(printedBy(root, [script, ...line], { PATH: process.env['PATH'], ...NOBODY_THERE }));
};

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const importCase: BenchCase = {
  name: 'cold-imports',
  unit: 'ms',
  referenceName: 'of the processor for the same from sources and node_modules',
  aim: atMost(0.6),
  samples: 3,
  ours: async () => {
    const folder = await packedFolder();
    return sumOf(imports.map(({ packed }) => importMs(packed, '--packed', folder)));
  },
  reference: () => sumOf(imports.map(({ from }) => importMs(from))),
};

/** What the packed functions take from the start of their process to what somebody waits for. */
export function coldGroup(): BenchGroup {
  let isOpen = false;
  const world = once(() => {
    isOpen = true;
    return startWorld();
  });
  const cases: BenchCase[] = [
    coldCase({
      name: 'cold-chat',
      aim: atMost(1.8),
      ours: firstAnswerOf('chat', '/v1/health', 200),
    }),
    coldCase({
      name: 'cold-compaction',
      aim: atMost(2.5),
      // A GET is no push: the worker is loaded, and asks nobody.
      ours: firstAnswerOf('compaction', '/', 405),
    }),
    coldCase({
      name: 'cold-message',
      aim: atMost(3.5),
      ours: async () => firstMessageMs((await world()).environment),
    }),
    importCase,
  ];
  const close = async () => {
    if (isOpen) await (await world()).close();
  };
  return { name: 'cold', title: 'Starting cold', cases, close };
}
