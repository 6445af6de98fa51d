import { describe, expect, test } from 'vitest';
import { cancelCompaction } from '#functions/chat/context/manual-compaction.ts';
import type { CompactionCrashPoint } from '#functions/lib/crash-points.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import { owner, setConversation } from '#test/support/chat/lifecycle.ts';
import {
  buildDue,
  compactOnce,
  manualRequest,
  see,
  type CompactionBench,
  actingAt,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';

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
        const { promise, reject } = Promise.withResolvers<string>();
        signal.addEventListener('abort', () => reject(signal.reason));
        return promise;
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

  test('a request cancelled during another compaction keeps its record at the swap', async () => {
    const base = compactionBench();
    const id = await buildDue(base);
    const bench = actingAt(base, 'before-swap', async () => {
      await setConversation(base, id, {
        'compactionRequests.manual': { requestId: 'request-m', since: base.clock.now() },
      });
      await cancelCompaction(base, { caller: owner, conversationId: id, jobId: 'request-m' });
    });

    const result = await compactOnce(bench, id);

    const { job, conversation } = await see(base.store, id);
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(conversation.compactionRequests).toEqual({});
    expect(job?.records).toMatchObject([
      { requestId: 'request-m', state: 'ABORTED' },
      { requestId: 'request-1', state: 'COMPACTED' },
    ]);
  });
});
