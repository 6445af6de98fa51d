import { setTimeout as wait } from 'node:timers/promises';
import type { BenchCase, BenchGroup } from '../bench-case.ts';
import { once } from '#shared/once.ts';
import { firstAnswer } from '../cold-start/first-answer.ts';
import { emptyFunctionFolder, packedFolder, sdksAloneFolder } from '../cold-start/packed.ts';
import { isListening, msUntil } from '../cold-start/start-function.ts';
import { startFirstMessage, type FirstMessage } from '../worlds/first-message.ts';
import { importCase } from './cold-imports.ts';

/** Long enough for whatever an instance does before it is asked. */
const STARTED_AHEAD_BY_MS = 1_500;

interface Expected {
  path: string;
  status: number;
}

/** Whether it answers as it should; throws Error where it answers something else. */
const asks =
  ({ path, status }: Expected) =>
  async (url: string): Promise<boolean> => {
    const answered = await firstAnswer(`${url}${path}`, {});
    if (answered !== undefined && answered !== status)
      throw new Error(`${path} answered ${answered}, not ${status}`);
    return answered !== undefined;
  };

/** From the start of a process on, beside a function that does nothing. */
const coldCase = (
  benchCase: Pick<BenchCase, 'name' | 'aim' | 'ours' | 'sdksAlone'>,
): BenchCase => ({
  samples: 15,
  ...benchCase,
  unit: 'ms',
  referenceName: 'an empty function of the framework',
  direction: 'atMost',
  reference: () =>
    msUntil({ folder: emptyFunctionFolder(), target: 'empty' }, asks({ path: '/', status: 200 })),
});

const firstAnswerOf = (target: string, expected: Expected) => () =>
  msUntil({ folder: packedFolder(), target }, asks(expected));

/** The first message to an instance that has listened for a while, from the request on. */
async function firstMessageMs({ environment, send }: FirstMessage): Promise<number> {
  let tookMs = Number.NaN;
  await msUntil({ folder: packedFolder(), target: 'chat', environment }, async (url) => {
    if (!(await isListening(url))) return false;
    await wait(STARTED_AHEAD_BY_MS);
    const sentAt = performance.now();
    await send(url);
    tookMs = performance.now() - sentAt;
    return true;
  });
  return tookMs;
}

/** What the packed functions take from the start of their process to what somebody waits for. */
export function coldGroup(): BenchGroup {
  let isOpen = false;
  const world = once(() => {
    isOpen = true;
    return startFirstMessage();
  });
  const cases: BenchCase[] = [
    coldCase({
      name: 'cold-chat',
      aim: 1.8,
      ours: firstAnswerOf('chat', { path: '/v1/health', status: 200 }),
    }),
    coldCase({
      name: 'cold-compaction',
      aim: 2.5,
      // A GET is no push: the worker is loaded, and asks nobody.
      ours: firstAnswerOf('compaction', { path: '/', status: 405 }),
    }),
    coldCase({
      name: 'cold-message',
      aim: 3.5,
      ours: async () => {
        const { environment, send } = await world();
        return msUntil({ folder: packedFolder(), target: 'chat', environment }, send);
      },
      sdksAlone: async () => {
        const { environment, send } = await world();
        return msUntil({ folder: sdksAloneFolder(), target: 'alone', environment }, send);
      },
    }),
    coldCase({
      name: 'cold-ahead',
      aim: 3,
      ours: async () => firstMessageMs(await world()),
    }),
    importCase(),
  ];
  const close = async () => {
    if (isOpen) await (await world()).close();
  };
  return { name: 'cold', title: 'Starting cold', cases, close };
}
