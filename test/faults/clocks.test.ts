import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import {
  createDatabaseClock,
  systemClock,
  type DatabaseClock,
} from '#functions/adapters/clocks.ts';
import type { Clock, DocumentStore } from '#shared/ports/ports.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { contentText } from '#shared/models/content.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { heldStreamer, scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import {
  compactionBench,
  autoRequest,
  buildDue,
  neverAborted,
  see,
  sweep,
} from '#test/support/compaction/compacted-conversation.ts';
import { passTime } from '../support/pass-time.ts';
import { answered, request } from '#test/support/chat/sending.ts';
import { dyingAt } from '../support/stores/dying-at.ts';

const DAY_MS = 24 * 60 * 60_000;

/** A day slow, right, and a day fast. */
const offsets = [-DAY_MS, 0, DAY_MS];

/** A store whose replies carry the time of `time` and set an instance's clock by it, as Firestore's do. */
function timedStore(
  store: DocumentStore,
  { time, clock }: { time: Pick<Clock, 'now'>; clock: Pick<DatabaseClock, 'asking'> },
): DocumentStore {
  async function timed<Reply>(call: () => Promise<Reply>): Promise<Reply> {
    const heard = clock.asking();
    const reply = await call();
    heard(time.now());
    return reply;
  }
  return {
    ...store,
    get: (paths) => timed(() => store.get(paths)),
    query: (query) => timed(() => store.query(query)),
    commit: (writes) => timed(() => store.commit(writes)),
  };
}

/** What an instance sees whose machine is wrong by `offsetMs`, while `time` is right and is the database's. */
function skewed(store: DocumentStore, time: Clock, offsetMs: number) {
  const machine: Clock = {
    now: () => new Date(time.now().getTime() + offsetMs),
    wait: (ms, signal) => time.wait(ms, signal),
  };
  const clock = createDatabaseClock(machine);
  return { clock, store: timedStore(store, { time, clock }) };
}

const wrong = [-DAY_MS, DAY_MS];

/** Instances of one deployment whose machines are a day slow, right and a day fast. */
function skewedInstances() {
  const store = createMemoryDocumentStore();
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const instances = offsets.map((offsetMs) =>
    chatDependencies({ model, ...skewed(store, systemClock, offsetMs) }),
  );
  return { store, instances, requests };
}

const instanceOf = <T>(instances: readonly T[], index: number): T => {
  const instance = instances[index % instances.length];
  if (instance === undefined) throw new Error('there are no instances');
  return instance;
};

describe('instances whose machines differ by a day and more', () => {
  test('instances with clocks a day apart keep the arrival order in transcript and context', async () => {
    const { store, instances, requests } = skewedInstances();
    const id = randomUUID();
    const said = Array.from({ length: 12 }, (_, index) => `message ${index}`);

    for (const [index, text] of said.entries())
      await answered(instanceOf(instances, 2 * index), request(id, text));

    const turns = await readTurns(
      store,
      id,
      said.map((_, index) => index + 1),
    );
    const prompt = requests.at(-1)?.contents.filter(({ role }) => role === 'user');
    expect(turns.map(({ value }) => contentText(value.user))).toEqual(said);
    expect(prompt?.map(contentText)).toEqual(said);
  });

  test('instances with clocks a day apart leave each other’s running turns alone', async () => {
    const store = createMemoryDocumentStore();
    const time = createManualClock();
    const { model, calls, answerAll } = heldStreamer();
    const [slow, right, fast] = offsets.map((offsetMs) =>
      chatDependencies({ model, ...skewed(store, time, offsetMs) }),
    );
    if (!slow || !right || !fast) throw new Error('there are three instances');
    const id = randomUUID();
    const send = request(id, 'Hello');
    const first = await sendMessage(slow, send);

    const attached = [await sendMessage(fast, send), await sendMessage(right, send)];
    const other = sendMessage(fast, request(id, 'And another one'));
    await expect(other).rejects.toMatchObject({ reason: 'TURN_IN_PROGRESS' });
    await sweep({ ...compactionBench(), ...skewed(store, time, DAY_MS) });
    answerAll();

    const told = await passTime(
      time,
      Promise.all([first, ...attached].map(({ result }) => result)),
    );
    expect(told.map(({ turn }) => turn.attempt)).toEqual([1, 1, 1]);
    expect(calls).toHaveLength(1);
  });

  test.each(wrong)(
    'an instance takes over a dead instance’s turn under the same id, %i ms off',
    async (offsetMs) => {
      const store = createMemoryDocumentStore();
      const time = createManualClock();
      const startMs = time.now().getTime();
      const id = randomUUID();
      const asked = request(id, 'Hello');
      const died = Promise.withResolvers<void>();
      const dying = chatDependencies({
        ...skewed(store, time, offsetMs),
        atCrashPoint: (point) => {
          if (point !== 'turn-started') return Promise.resolve();
          died.resolve();
          return new Promise(() => undefined);
        },
      });
      void sendMessage(dying, asked).catch(() => undefined);
      await died.promise;
      const other = chatDependencies({ ...skewed(store, time, -offsetMs) });

      const answering = (await sendMessage(other, asked)).result;
      const { turn } = await passTime(time, answering);

      expect(turn).toMatchObject({ seq: 1, attempt: 2, state: 'done' });
      // The lease of 20 s was waited for, and no day.
      expect(time.now().getTime() - startMs).toBeLessThan(60_000);
    },
  );
});

test.each(wrong)(
  'workers leave a lease to its holder, and no longer, %i ms off',
  async (offsetMs) => {
    const bench = compactionBench();
    const { store, clock: time } = bench;
    const id = await buildDue(bench, { conversation: { compactionRequests: autoRequest() } });
    const worker = (ms: number) => ({ ...compactionBench(), ...skewed(store, time, ms) });
    const claimed = Promise.withResolvers<void>();
    const dead = worker(offsetMs);
    const { store: deadStore, atCrashPoint } = dyingAt(dead.store, 'claimed');
    const dying = {
      ...dead,
      store: deadStore,
      atCrashPoint: (point: string) => {
        if (point === 'claimed') claimed.resolve();
        return atCrashPoint(point);
      },
    };
    void runCompaction(dying, { conversationId: id, signal: neverAborted() });
    await claimed.promise;
    const run = () =>
      runCompaction(worker(-offsetMs), { conversationId: id, signal: neverAborted() });

    const atOnce = await run();
    time.advance(61_000);
    const later = await run();

    expect(atOnce).toMatchObject({ kind: 'later', reason: 'LEASE_HELD' });
    expect(later).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect((await see(store, id)).conversation.generation).toBe(1);
  },
);
