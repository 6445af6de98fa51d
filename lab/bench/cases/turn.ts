import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '#functions/adapters/clocks.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { answerOrReason, limitedChat } from '#test/support/chat/quotas.ts';
import { atMost, type BenchCase, type BenchGroup } from '../measure.ts';
import { bareBurstMs, parallelSendsMs } from '../worlds/contention.ts';
import { countStore, type StoreWork } from '../worlds/counted-store.ts';
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
  const { result } = await sendMessage(chat, {
    caller: { uid: 'u1', tier: 'signedIn' },
    conversationId: randomUUID(),
    message: { id: randomUUID(), parts: [{ text: 'Tell me.' }] },
  });
  await result;
  return take();
}

/** What a call of the model took, and what that costs at the prices of the tests. */
const reported = { promptTokens: 300, cachedTokens: 0, outputTokens: 100, thoughtsTokens: 0 };
const CALL_USD = 400 / 1_000_000;

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
  const store = createMemoryDocumentStore();
  let calls = 0;
  const model: ModelStreamer = {
    async *stream() {
      calls += 1;
      await clock.wait(CALL_MS);
      yield { parts: [{ text: 'A trip to Busan in May.' }] };
      yield { parts: [], finishReason: 'STOP', usage: reported };
    },
  };
  const limits = { GLOBAL_DAILY_USD: String(LIMIT_USD), TITLES: 'off' };
  const instances = Array.from({ length: INSTANCES }, () =>
    limitedChat(limits, { store, model, clock }),
  );
  const running = new Set<Promise<unknown>>();
  for (let second = 0; second < SECONDS; second++) {
    for (let user = 0; user < USERS; user++) {
      const chat = instances[(user + second) % INSTANCES];
      if (!chat) throw new Error('there are four');
      const caller = { uid: `u${user}`, tier: 'signedIn' } as const;
      const sent = answerOrReason(chat, randomUUID(), { caller });
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
  return calls * CALL_USD - LIMIT_USD;
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
    {
      ...documents('warm-reads', 3, async () => (await turns.turn(1_000)).reads),
      samples: 5,
    },
  ];
}

/** One turn: what it reads, writes and takes, and what limits of users and of all cost. */
export function turnGroup(): BenchGroup {
  const turns = createLongTurns();
  let sixSeconds: StoreWork | undefined;
  const cases: BenchCase[] = [
    ...storedTurns(turns),
    {
      ...documents('turn-writes', 18, async () => {
        sixSeconds = await answerOfSixSeconds();
        return sixSeconds.writes;
      }),
      note: () => `an answer of six seconds, with ${sixSeconds?.reads} reads`,
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
