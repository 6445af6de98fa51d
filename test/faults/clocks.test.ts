import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { listMessages } from '../../functions/src/chat/conversation/list-messages.ts';
import { sendMessage } from '../../functions/src/chat/send/send-message.ts';
import { runCompaction } from '../../functions/src/compaction/run-compaction.ts';
import { createMemoryDocumentStore } from '../../infra/local/embedded/memory-document-store.ts';
import { contentText } from '../../shared/conversation/content.ts';
import { readTurns } from '../../shared/conversation/read-conversation.ts';
import { AppError } from '../../shared/errors.ts';
import { createShiftedClock } from '../fakes/shifted-clock.ts';
import { createScriptedModel, snapshotAnswer } from '../fakes/scripted-model.ts';
import { scriptedStreamer, textAnswer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat-dependencies.ts';
import { compactionBench } from '../support/compaction-dependencies.ts';
import { autoNeed, buildDue, neverAborted, see } from '../support/compacted-conversation.ts';
import { headOf } from '../support/fault-stack.ts';
import { overloaded } from '../support/model-down.ts';
import { request } from '../support/sending.ts';
import { historiesOf } from '../support/stored-histories.ts';

const TEN_MINUTES_MS = 10 * 60_000;
const offsets = [-TEN_MINUTES_MS, 0, TEN_MINUTES_MS];
const uid = { caller: { uid: 'u1', tier: 'signedIn' } as const };

/** Instances of one deployment whose clocks are ten minutes slow, right and ten minutes fast. */
function skewedInstances(store = createMemoryDocumentStore()) {
  const { model, requests } = scriptedStreamer(textAnswer('Fine.'));
  const instances = offsets.map((offsetMs) =>
    chatDependencies({ store, model, clock: createShiftedClock(offsetMs) }),
  );
  return { store, instances, requests };
}

const instanceOf = <T>(instances: readonly T[], index: number): T => {
  const instance = instances[index % instances.length];
  if (instance === undefined) throw new Error('there are no instances');
  return instance;
};

describe('instances whose clocks differ by ten minutes and more', () => {
  test('keep the order in which messages were taken, in transcript and context', async () => {
    const { store, instances, requests } = skewedInstances();
    const id = randomUUID();
    const said = Array.from({ length: 12 }, (_, index) => `message ${index}`);

    for (const [index, text] of said.entries())
      await (
        await sendMessage(instanceOf(instances, 2 * index), request(id, text))
      ).result;

    const turns = await readTurns(
      store,
      id,
      said.map((_, index) => index + 1),
    );
    const prompt = requests.at(-1)?.contents.filter(({ role }) => role === 'user');
    expect(turns.map(({ value }) => contentText(value.user))).toEqual(said);
    expect(prompt?.map(contentText)).toEqual(said);
  });

  test('list a transcript in its order, not in that of the times', async () => {
    const { instances } = skewedInstances();
    const id = randomUUID();
    for (let index = 0; index < 6; index++)
      await (
        await sendMessage(instanceOf(instances, 5 - index), request(id, `message ${index}`))
      ).result;

    const { messages } = await listMessages(instanceOf(instances, 0), {
      ...uid,
      conversationId: id,
      pageSize: 100,
      order: 'asc',
      afterSeq: 0,
    });

    expect(messages.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 12 }, (_, index) => Math.floor(index / 2) + 1),
    );
  });

  test('that answer one message at once store one answer', async () => {
    const { store, instances } = skewedInstances();
    const id = randomUUID();
    const send = request(id, 'Hello');

    const results = await Promise.allSettled(
      instances.map(async (instance) => (await sendMessage(instance, send)).result),
    );

    const head = await headOf(store, id);
    const [turn] = await readTurns(store, id, [1]);
    const failures = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason] : [],
    );
    expect(head).toMatchObject({ lastSeq: 1 });
    expect(turn?.value).toMatchObject({ state: 'done' });
    expect(turn?.value.contents.map(contentText)).toEqual(['Fine.']);
    expect(failures.filter((error) => !(error instanceof AppError && error.retryable))).toEqual([]);
  });

  test('take each other’s running turns for abandoned at worst, and still tell and store one answer', async () => {
    const store = createMemoryDocumentStore();
    const gate = Promise.withResolvers<void>();
    const slow = scriptedStreamer({ ...textAnswer('From the slow clock.'), gate: gate.promise });
    const behind = chatDependencies({
      store,
      model: slow.model,
      clock: createShiftedClock(-TEN_MINUTES_MS),
    });
    const ahead = chatDependencies({ store, clock: createShiftedClock(TEN_MINUTES_MS) });
    const id = randomUUID();
    const send = request(id, 'Hello');
    const first = await sendMessage(behind, send);

    const second = await (await sendMessage(ahead, send)).result;
    gate.resolve();

    expect((await first.result).turn.contents.map(contentText)).toEqual(['Fine.']);
    const [turn] = await readTurns(store, id, [1]);
    expect(second.turn.contents.map(contentText)).toEqual(['Fine.']);
    expect(turn?.value).toMatchObject({ attempt: 2, state: 'done' });
    expect(turn?.value.contents.map(contentText)).toEqual(['Fine.']);
  });

  test('ask nobody to wait longer than the model asked', async () => {
    const store = createMemoryDocumentStore();
    const ahead = chatDependencies({
      store,
      clock: createShiftedClock(TEN_MINUTES_MS),
      model: scriptedStreamer({ error: overloaded() }).model,
    });
    const right = chatDependencies({ store });
    const send = request(randomUUID(), 'Hello');
    await expect((await sendMessage(ahead, send)).result).rejects.toBeDefined();

    const again = sendMessage(right, send).then(({ result }) => result);

    await expect(again).rejects.toMatchObject({ retryAfterMs: 1_000 });
  });
});

describe('workers whose clocks differ by ten minutes and more', () => {
  test.each(offsets)('make one swap when the other is %i ms off', async (offsetMs) => {
    const bench = compactionBench();
    const store = bench.store;
    const id = await buildDue(bench, { head: { compactionNeeded: autoNeed() } });
    const workers = [0, offsetMs].map((offset) => ({
      ...compactionBench({ store }),
      clock: createShiftedClock(offset),
      model: createScriptedModel({ answers: [snapshotAnswer()] }),
    }));

    await Promise.all(
      workers.map((worker) =>
        runCompaction(worker, { conversationId: id, signal: neverAborted() }),
      ),
    );

    const { head, job, items } = await see(store, id);
    const tail = [...new Set(items.flatMap(({ seq }) => seq ?? []))];
    expect(head.generation).toBe(1);
    expect(await historiesOf({ store }, id)).toHaveLength(1);
    expect(job?.records.filter(({ state }) => state === 'COMPACTED')).toHaveLength(1);
    expect(tail[0]).toBe(head.coveredThrough.seq + 1);
    expect(tail.at(-1)).toBe(20);
  });
});
