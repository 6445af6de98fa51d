import { AppError } from '#shared/lib/errors.ts';
import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '#functions/adapters/clocks.ts';
import { beforeTurnHooks } from '#functions/app-steps.ts';
import { paidCall } from '#functions/quota/paid-call.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { once } from '#shared/lib/once.ts';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { sendAll } from '#test/support/chat/sending.ts';
import { atMost, type BenchCase, type BenchGroup } from '../measure.ts';
import { bareBurstMs, parallelSendsMs } from '../worlds/contention.ts';
import { countStore, type StoreWork } from '../worlds/counted-store.ts';
import {
  CALL_USD,
  createLimitedInstances,
  FAR_LIMITS,
  sendOne,
} from '../worlds/limited-instances.ts';
import { createListedUser, firstPageReads } from '../worlds/full-inbox.ts';
import { createLongTurns, floorMs, type LongTurns, type TurnWork } from '../worlds/long-turns.ts';

const ANSWER_MS = 6_000;
const WORD_MS = 50;

/** Says a word every 50 ms, for six seconds. */
const slowSpeaker: ModelStreamer = {
  async *stream() {
    for (let saidMs = 0; saidMs < ANSWER_MS; saidMs += WORD_MS) {
      yield { parts: [{ text: 'word ' }] };
      await delay(WORD_MS);
    }
    yield { parts: [], finishReason: 'STOP' };
  },
};

/**
 * What an answer of six seconds asks of the store, in a new conversation. The store is one in memory: nothing there makes
 * a chunk late, so there are as many as there can be.
 */
async function answerOfSixSeconds(): Promise<StoreWork> {
  const { store, take } = countStore(createMemoryDocumentStore());
  const chat = chatDependencies({ store, model: slowSpeaker, clock: systemClock });
  await sendAll(chat, randomUUID(), ['Tell me.']);
  return take();
}

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
  const usage = { promptTokens: 9, cachedTokens: 0, outputTokens: 9, thoughtsTokens: 0 };
  const asked = { work: 'compactions' as const, conversationId, ownerUid: 'u1', request };
  const paid = await paidCall(cold, asked, () => Promise.resolve({ usage }));
  await paid.settled;
  return counted.take().reads;
}

const AT_ONCE = 20;

/** Twenty messages at once, each in a conversation of its own. Resolves to ms. */
async function sendsAtOnceMs(uidOf: (n: number) => string): Promise<number> {
  const { instance } = createLimitedInstances({ ...FAR_LIMITS, TITLES: 'off' });
  const chat = instance();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => sendOne(chat, { uid: uidOf(n) })));
  return performance.now() - startedAt;
}

const USERS = 50;
const INSTANCES = 4;
/** Every user sends once in a second of the clock, until nobody is answered any more. */
const LIMIT_USD = 30 * USERS * CALL_USD;
const SECONDS = 90;
const CALL_MS = 3_000;
const TURNS_OF_THE_LOOP = 200;

/** What fifty users on four instances spend beyond the budget of all, before all are refused; dollars. */
async function overspentUsd(): Promise<number> {
  const clock = createManualClock();
  const world = createLimitedInstances(
    { GLOBAL_DAILY_USD: String(LIMIT_USD), TITLES: 'off' },
    { clock, modelMs: CALL_MS, roundTripMs: 0 },
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

/** So many documents, for which nothing has to be measured twice. */
const documents = (name: string, aim: number, ours: () => Promise<number>): BenchCase => ({
  name,
  unit: 'documents',
  referenceName: 'one document',
  aim: atMost(aim),
  samples: 1,
  ours,
  reference: () => 1,
});

/** What a turn takes on the Firestore emulator. */
function storedTurns(turns: LongTurns): BenchCase[] {
  let newest: TurnWork | undefined;
  return [
    {
      name: 'turn-growth',
      unit: 'ms',
      referenceName: 'a turn after 10',
      aim: atMost(1.3),
      samples: 15,
      ours: async () => (await turns.turn(10_000)).ms,
      reference: async () => (await turns.turn(10)).ms,
    },
    {
      name: 'store-work',
      unit: 'ms',
      referenceName: 'as many documents by one read and two batches of Google’s client',
      aim: atMost(1.5),
      samples: 15,
      ours: async () => (newest = await turns.turn(1_000)).busyMs,
      reference: async () => floorMs(await turns.world(), newest ?? (await turns.turn(1_000))),
    },
    {
      name: 'contention',
      unit: 'ms',
      referenceName: '20 writers with bare guarded batches',
      aim: atMost(3),
      samples: 5,
      ours: async () => parallelSendsMs(await turns.world()),
      reference: async () => bareBurstMs(await turns.world()),
    },
    firstPage(turns),
    {
      ...documents('warm-reads', 3, async () => (await turns.turn(1_000)).reads),
      samples: 5,
    },
  ];
}

/**
 * What the list of a user of years reads beside that of a new one. Documents, not time: the emulator looks through a
 * whole collection, where Firestore has an index.
 */
function firstPage(turns: LongTurns): BenchCase {
  const userOf = (conversations: number) =>
    once(async () => createListedUser((await turns.world()).chat, conversations));
  const [many, few] = [userOf(10_000), userOf(20)];
  const reads = async (user: () => Promise<string>) =>
    firstPageReads(await turns.world(), await user());
  return {
    name: 'first-page-10000',
    unit: 'documents',
    referenceName: 'the first page of twenty conversations',
    aim: atMost(1.3),
    samples: 1,
    ours: () => reads(many),
    reference: () => reads(few),
  };
}

/** Turns of one sample: one of some milliseconds is told from another only in numbers. */
const HOOKED_TURNS = 40;

/** What the steps of an app around a turn add to it, where they do nothing. */
function hookNoop(): BenchCase {
  const answers = scriptedStreamer(textAnswer('Fine.')).model;
  const plain = chatDependencies({ model: answers });
  const hooked = chatDependencies({
    model: answers,
    beforeTurnHooks: beforeTurnHooks({ beforeTurn: () => undefined }),
    afterTurn: () => undefined,
  });
  const fastestMs = { plain: Infinity, hooked: Infinity };
  const turnsMs = async (chat: typeof plain, name: keyof typeof fastestMs): Promise<number> => {
    const tookMs: number[] = [];
    for (let turn = 0; turn < HOOKED_TURNS; turn++) {
      const startedAt = performance.now();
      await sendOne(chat);
      tookMs.push(performance.now() - startedAt);
    }
    fastestMs[name] = Math.min(fastestMs[name], ...tookMs);
    return tookMs.toSorted((a, b) => a - b)[HOOKED_TURNS / 2] ?? Number.NaN;
  };
  return {
    name: 'hook-noop',
    unit: 'ms',
    referenceName: 'the same turn without steps of an app, and 1 ms',
    aim: atMost(1),
    samples: 15,
    ours: () => turnsMs(hooked, 'hooked'),
    reference: async () => (await turnsMs(plain, 'plain')) + 1,
    note: () =>
      `the fastest: ${fastestMs.hooked.toFixed(2)} ms with, ${fastestMs.plain.toFixed(2)} ms without`,
  };
}

/** One turn: what it reads, writes and takes, and what limits of users and of all cost. */
export function turnGroup(): BenchGroup {
  const turns = createLongTurns();
  let sixSeconds: StoreWork | undefined;
  const cases: BenchCase[] = [
    ...storedTurns(turns),
    {
      ...documents('turn-writes', 19, async () => {
        sixSeconds = await answerOfSixSeconds();
        return sixSeconds.writes;
      }),
      note: () => `an answer of six seconds, with ${sixSeconds?.reads} reads`,
    },
    hookNoop(),
    documents('cold-turn-reads', 12, coldTurnReads),
    documents('cold-call-reads', 3, coldCallReads),
    {
      name: 'one-user-sends',
      unit: 'ms',
      referenceName: 'the same messages of twenty users',
      aim: atMost(2),
      ours: () => sendsAtOnceMs(() => 'u1'),
      reference: () => sendsAtOnceMs((n) => `u${n}`),
    },
    {
      name: 'budget-overspent',
      unit: 'USD',
      referenceName: 'what ten seconds cost, 50 users on 4 instances',
      aim: atMost(1),
      samples: 1,
      ours: overspentUsd,
      reference: () => 10 * USERS * CALL_USD,
    },
  ];
  return { name: 'turn', title: 'One turn', cases, close: turns.close };
}
