import type { CompactionCrashPoint } from '#functions/lib/crash-points.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { createScriptedModel, untilAborted } from '#test/fakes/scripted-model.ts';
import { dyingAt, historiesOf, setConversation } from '#test/support/chat/lifecycle.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
  compactionBench,
  type CompactionBench,
  actingAt,
  updateDocument,
} from '#test/support/compaction/compacted-conversation.ts';
import { addTurn } from '#test/support/compaction/conversation-builder.ts';
import { describe, expect, test } from 'vitest';

describe('duplicate deliveries', () => {
  test('a person’s compaction request is served before an automatic one', async () => {
    const bench = compactionBench();
    const compactionRequests = { ...autoRequest(), ...manualRequest() };
    const conversationId = await buildDue(bench, { conversation: { compactionRequests } });

    await compactOnce(bench, conversationId);

    const { job } = await see(bench.store, conversationId);
    expect(job?.records).toMatchObject([{ requestId: 'request-m', trigger: 'manual' }]);
  });

  test('an event for a conversation that does not exist is acknowledged', async () => {
    const bench = compactionBench();

    const result = await compactOnce(bench, 'nobody');

    expect(result).toEqual({ kind: 'done', reason: 'NOT_LIVE' });
  });
});

/** Another worker takes the lease. */
const takeLease = ({ store }: CompactionBench, conversationId: string) =>
  updateDocument(store, compactionJobPath(conversationId), { owner: 'another', fence: 2 });

test('a worker whose lease was taken after verification changes nothing', async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench);
  const overtaken = actingAt(bench, 'verified', () => takeLease(bench, conversationId));

  const result = await compactOnce(overtaken, conversationId);

  const { conversation, job } = await see(bench.store, conversationId);
  expect(result).toMatchObject({ kind: 'retry', reason: 'LEASE_LOST' });
  expect(conversation).toMatchObject({ generation: 0, coveredThrough: { seq: 0 } });
  expect(job).toMatchObject({ owner: 'another', fence: 2, records: [] });
  expect(await historiesOf(bench, conversationId)).toHaveLength(0);
});

describe('a worker that is stopped, dies or meets others', () => {
  test('a lost lease stops the model call', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const slow = compactionBench({
      ...bench,
      model: createScriptedModel({
        answers: [
          async (_, signal) => {
            await takeLease(bench, conversationId);
            bench.clock.advance(20_000);
            return untilAborted(signal);
          },
        ],
      }),
    });

    const result = await compactOnce(slow, conversationId);

    const { job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'LEASE_LOST' });
    expect(job).toMatchObject({ owner: 'another', records: [] });
  });

  test('a request whose worker always dies is settled after three attempts', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(
        compactOnce({ ...bench, ...dyingAt('planned') }, conversationId),
      ).rejects.toThrow('died');
      bench.clock.advance(61_000);
      // One at a person's request in between does not make the others forgotten.
      const path = compactionJobPath(conversationId);
      const fields = { requestId: 'm-0', 'attempts.manual': { requestId: 'm-0', count: 1 } };
      await updateDocument(bench.store, path, fields);
    }

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'FAILED_ERROR', reason: 'ATTEMPTS_USED_UP' });
    expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
  });

  test('five deliveries at once after an earlier compaction make one worker’s calls', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);
    for (let more = 0; more < 10; more++)
      await addTurn(bench.store, conversationId, {
        user: `More ${more}. `.repeat(40),
        answer: 'Yes.',
      });
    const manual = { requestId: 'request-2', since: bench.clock.now() };
    await setConversation(bench, conversationId, { 'compactionRequests.manual': manual });
    const calls = bench.model.calls.length;

    const results = await Promise.all(
      Array.from({ length: 5 }, () => compactOnce(compactionBench({ ...bench }), conversationId)),
    );

    expect(results.filter(({ kind }) => kind === 'done')).toHaveLength(1);
    expect(bench.model.calls).toHaveLength(calls + 1);
  });
});

const callOff = (bench: CompactionBench, conversationId: string, jobId = 'request-1') =>
  setConversation(bench, conversationId, { 'compactionRequests.cancel': jobId });

/** A worker whose model answers never, and whose owner calls its work off while it waits. */
function benchCalledOff(conversationId: () => string, jobId?: string): CompactionBench {
  const base = compactionBench();
  const model = createScriptedModel({
    answers: [
      async (_request, signal) => {
        await callOff(base, conversationId(), jobId);
        base.clock.advance(2_000);
        return untilAborted(signal);
      },
    ],
  });
  return { ...base, model };
}

describe('a compaction that its owner calls off', () => {
  test('cancelling a compaction while the model writes stops it in two seconds; only its size is remembered', async () => {
    let id = '';
    const bench = benchCalledOff(() => id);
    id = await buildDue(bench);
    const before = await see(bench.store, id);

    const result = await compactOnce(bench, id);

    const { items, job, conversation } = await see(bench.store, id);
    const outcome = { state: 'ABORTED', reason: 'CANCELLED_BY_USER' };
    expect(result).toEqual({ kind: 'done', ...outcome });
    expect(items).toEqual(before.items);
    expect(job).toMatchObject({ owner: '', brake: { failures: 0 }, records: [outcome] });
    expect(job?.brake.pause).toBeUndefined();
    const declined = { tokens: before.tokens, generation: 0 };
    expect(conversation.compactionRequests).toEqual({ declined });
  });

  test('cancelling a manual compaction leaves automatic compaction unchanged', async () => {
    let id = '';
    const bench = benchCalledOff(() => id, 'request-m');
    id = await buildDue(bench, { conversation: { compactionRequests: manualRequest() } });

    await compactOnce(bench, id);

    expect((await see(bench.store, id)).conversation.compactionRequests).toEqual({});
  });

  test.each<[CompactionCrashPoint, string, number, number]>([
    ['received', 'ABORTED', 0, 0],
    ['before-swap', 'ABORTED', 1, 0],
    ['swapped', 'COMPACTED', 1, 1],
  ])('a compaction called off when its worker is at %s ends as %s', async (...row) => {
    const [point, state, modelCalls, generation] = row;
    const bench = compactionBench();
    const id = await buildDue(bench);

    const result = await compactOnce(
      actingAt(bench, point, () => callOff(bench, id)),
      id,
    );

    const { conversation } = await see(bench.store, id);
    expect(result).toMatchObject({ kind: 'done', state });
    expect(bench.model.calls).toHaveLength(modelCalls);
    expect(conversation.generation).toBe(generation);
    const { auto, cancel } = conversation.compactionRequests;
    expect([auto, cancel]).toEqual([undefined, undefined]);
  });
});
