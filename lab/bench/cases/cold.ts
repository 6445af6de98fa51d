import { startEmulators } from '#infra/local/emulators.ts';
import { emptyFunctionFolder, packedFolder } from '../cold-start/packed.ts';
import { msUntilAnswered } from '../cold-start/start-function.ts';
import { startFakeGeminiHost } from '../hosts/start-host.ts';
import { atMost, type BenchCase, type BenchGroup } from '../measure.ts';
import { openOnce } from '../worlds/open-once.ts';
import { sendRequest } from '../worlds/streams.ts';

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
  const { url, ...request } = sendRequest('', 'My dog is called Pixel.');
  const start = { folder: await packedFolder(), target: 'chat', environment };
  return msUntilAnswered(start, url, {
    ...request,
    method: 'POST',
    status: 200,
    wanted: '"type":"text-delta"',
  });
}

/** What the packed functions take from the start of their process to what somebody waits for. */
export function coldGroup(): BenchGroup {
  const { open, close } = openOnce(startWorld);
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
      ours: async () => firstMessageMs((await open()).environment),
    }),
  ];
  return { name: 'cold', title: 'Starting cold', cases, close };
}
