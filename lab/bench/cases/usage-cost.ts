import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { paidCall } from '#functions/quota/paid-call.ts';

import { AppError } from '#shared/errors.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import type { BenchCase, BenchGroup } from '../bench-case.ts';
import {
  CALL_USD,
  createLimitedInstances,
  FAR_LIMITS,
  sendOne,
} from '../worlds/limited-instances.ts';

const AT_ONCE = 20;

/** What an instance reads that knows nothing: for a first message, its title included. */
async function coldTurnReads(): Promise<number> {
  const { counted, instance } = createLimitedInstances(FAR_LIMITS);
  await sendOne(instance());
  return counted.take().reads;
}

/** What an instance reads that knows nothing: for a call beside a turn, or for a compaction. */
async function coldCallReads(): Promise<number> {
  const { counted, instance } = createLimitedInstances(FAR_LIMITS);
  const conversationId = randomUUID();
  await sendOne(instance(), { conversationId });
  const cold = instance();
  counted.take();
  const request = {
    model: 'house-model',
    contents: [{ role: 'user' as const, parts: [{ text: 'Summarise.' }] }],
    role: 'utility_compressor' as const,
    promptId: 'request-1',
  };
  const paid = await paidCall(
    cold,
    { work: 'compactions', conversationId, ownerUid: 'u1', request },
    () =>
      Promise.resolve({
        usage: { promptTokens: 9, cachedTokens: 0, outputTokens: 9, thoughtsTokens: 0 },
      }),
  );
  await paid.settled;
  return counted.take().reads;
}

interface Parallel {
  ms: number;
  /** How often what a message starts with was read. */
  preparations: number;
  writes: number;
}

/** Twenty messages at once, each in a conversation of its own. */
async function parallelSends(uidOf: (n: number) => string): Promise<Parallel> {
  const { counted, instance } = createLimitedInstances({ ...FAR_LIMITS, TITLES: 'off' });
  const chat = instance();
  let preparations = 0;
  const get: typeof chat.store.get = (paths) => {
    if (paths.some((path) => path.includes('/messages/'))) preparations += 1;
    return counted.store.get(paths);
  };
  const watched = { ...chat, store: { ...chat.store, get } };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => sendOne(watched, { uid: uidOf(n) })));
  const ms = performance.now() - startedAt;
  return { ms, preparations, writes: counted.take().writes };
}

function oneUserCases(): BenchCase[] {
  let newest: Parallel = { ms: 0, preparations: 0, writes: 0 };
  const ofOne = async () => (newest = await parallelSends(() => 'u1'));
  return [
    {
      name: 'one-user-sends',
      unit: 'ms',
      referenceName: 'the same messages of twenty users',
      direction: 'atMost',
      aim: 2,
      ours: async () => (await ofOne()).ms,
      reference: async () => (await parallelSends((n) => `u${n}`)).ms,
      note: () => `${newest.preparations} preparations, ${newest.writes} writes`,
    },
    {
      name: 'one-user-preparations',
      unit: 'documents',
      referenceName: 'one for each message',
      direction: 'atMost',
      aim: 1,
      samples: 3,
      ours: async () => (await ofOne()).preparations,
      reference: () => AT_ONCE,
    },
  ];
}

const USERS = 50;
const INSTANCES = 4;
/** Every user sends once in a second of the clock, until nobody is answered any more. */
const LIMIT_USD = 30 * USERS * CALL_USD;
const SECONDS = 90;
const ANSWER_MS = 3_000;
const TURNS_OF_THE_LOOP = 200;

/** What fifty users on four instances spend beyond the budget of all, before all are refused; dollars. */
async function overspentUsd(): Promise<number> {
  const clock = createManualClock();
  const world = createLimitedInstances(
    { GLOBAL_DAILY_USD: String(LIMIT_USD), TITLES: 'off' },
    { clock, modelMs: ANSWER_MS, roundTripMs: 0 },
  );
  const instances = Array.from({ length: INSTANCES }, () => world.instance());
  const running = new Set<Promise<unknown>>();
  for (let second = 0; second < SECONDS; second++) {
    for (let user = 0; user < USERS; user++) {
      const chat = instances[(user + second) % INSTANCES];
      if (!chat) throw new Error('there are four');
      const sent = sendOne(chat, { uid: `u${user}` }).catch((error: unknown) => {
        if (!(error instanceof AppError)) throw error;
      });
      running.add(sent);
      void sent.finally(() => running.delete(sent));
    }
    for (let turn = 0; turn < TURNS_OF_THE_LOOP; turn++) await setImmediate();
    clock.advance(1_000);
  }
  while (running.size > 0) {
    await setImmediate();
    clock.advance(1_000);
  }
  return world.requests.length * CALL_USD - LIMIT_USD;
}

/** What reserving, settling and the limits of users and of all cost. */
export function usageGroup(): BenchGroup {
  return {
    name: 'usage',
    title: 'Limits',
    cases: [
      {
        name: 'cold-turn-reads',
        unit: 'documents',
        referenceName: 'one document',
        direction: 'atMost',
        aim: 12,
        samples: 1,
        ours: coldTurnReads,
        reference: () => 1,
      },
      {
        name: 'cold-call-reads',
        unit: 'documents',
        referenceName: 'one document',
        direction: 'atMost',
        aim: 3,
        samples: 1,
        ours: coldCallReads,
        reference: () => 1,
      },
      ...oneUserCases(),
      {
        name: 'budget-overspent',
        unit: 'USD',
        referenceName: 'what ten seconds cost, 50 users on 4 instances',
        direction: 'atMost',
        aim: 1,
        samples: 1,
        ours: overspentUsd,
        reference: () => 10 * USERS * CALL_USD,
      },
    ],
  };
}
