import { describe, expect, test } from 'vitest';
import { cancelCompaction } from '#functions/chat/context/cancel-compaction.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  actingAt,
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { addTurn } from '#test/support/compaction/conversation-builder.ts';

const callOff = (bench: Pick<CompactionBench, 'store'>, conversationId: string, jobId: string) =>
  bench.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { 'compactionRequests.cancel': jobId },
      guard: { exists: true },
    },
  ]);

/** A worker whose model answers never, and whose owner calls its work off while it waits. */
function benchCalledOff(conversationId: () => string, jobId = 'request-1'): CompactionBench {
  const base = compactionBench();
  const model = createScriptedModel({
    answers: [
      async (_request, signal) => {
        await callOff(base, conversationId(), jobId);
        base.clock.advance(2_000);
        const { promise, reject } = Promise.withResolvers<string>();
        signal.addEventListener('abort', () => {
          reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
        });
        return promise;
      },
    ],
  });
  return { ...base, model };
}

describe('a compaction that its owner calls off', () => {
  test('cancelling a compaction while the model writes stops it in two seconds, changing nothing', async () => {
    let id = '';
    const bench = benchCalledOff(() => id);
    id = await buildDue(bench);
    const before = await see(bench.store, id);

    const result = await compactOnce(bench, id);

    const after = await see(bench.store, id);
    expect(result).toEqual({ kind: 'done', state: 'ABORTED', reason: 'CANCELLED_BY_USER' });
    expect(after.items).toEqual(before.items);
    expect(after.job?.owner).toBe('');
    expect(after.job?.brake.failures).toBe(0);
    expect(after.job?.brake.pause).toBeUndefined();
    expect(after.job?.records).toMatchObject([{ state: 'ABORTED', reason: 'CANCELLED_BY_USER' }]);
  });

  test('a cancelled compaction is not retried; only its size is remembered', async () => {
    let id = '';
    const bench = benchCalledOff(() => id);
    id = await buildDue(bench);
    const { tokens } = await see(bench.store, id);

    await compactOnce(bench, id);

    const { conversation } = await see(bench.store, id);
    expect(conversation.compactionRequests).toEqual({ declined: { tokens, generation: 0 } });
  });

  test('cancelling a manual compaction leaves automatic compaction unchanged', async () => {
    let id = '';
    const bench = benchCalledOff(() => id, 'request-m');
    id = await buildDue(bench, { conversation: { compactionRequests: manualRequest() } });

    await compactOnce(bench, id);

    expect((await see(bench.store, id)).conversation.compactionRequests).toEqual({});
  });

  test('a compaction cancelled before a worker came ends without a model call', async () => {
    const bench = compactionBench();
    const id = await buildDue(bench);
    await callOff(bench, id, 'request-1');

    const result = await compactOnce(bench, id);

    expect(result).toMatchObject({ kind: 'done', state: 'ABORTED' });
    expect(bench.model.calls).toHaveLength(0);
  });

  test('a compaction cancelled just before its swap is not swapped in', async () => {
    const base = compactionBench();
    let id = '';
    const bench = actingAt(base, 'before-swap', () => callOff(base, id, 'request-1'));
    id = await buildDue(bench);

    const result = await compactOnce(bench, id);

    expect(result).toMatchObject({ state: 'ABORTED', reason: 'CANCELLED_BY_USER' });
    expect((await see(bench.store, id)).conversation.generation).toBe(0);
  });

  test('a compaction cancelled after its swap stays swapped in', async () => {
    const base = compactionBench();
    let id = '';
    const bench = actingAt(base, 'swapped', () => callOff(base, id, 'request-1'));
    id = await buildDue(bench);

    const result = await compactOnce(bench, id);

    const { conversation } = await see(bench.store, id);
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(conversation).toMatchObject({ generation: 1, compactionRequests: {} });
    expect(conversation.compactionRequests.cancel).toBeUndefined();
  });
});

describe('after an automatic compaction was called off', () => {
  const declined = { tokens: 2_400, generation: 0 };

  test('after a cancelled compaction the next one waits for context growth', async () => {
    const bench = compactionBench();
    const id = await buildDue(bench, {
      conversation: {
        settings: { thresholdTokens: 1_000 },
        compactionRequests: { ...autoRequest(), declined },
      },
    });

    const result = await compactOnce(bench, id);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'DECLINED' });
  });

  test('after a cancelled compaction the next one comes once growth re-arms it', async () => {
    const bench = compactionBench();
    const id = await buildDue(bench, {
      conversation: {
        settings: { thresholdTokens: 1_000 },
        compactionRequests: { ...autoRequest(), declined: { ...declined, tokens: 1_500 } },
      },
    });
    await addTurn(bench.store, id, { user: 'And?', answer: 'More of the same. '.repeat(40) });

    const result = await compactOnce(bench, id);

    expect(result).toMatchObject({ state: 'COMPACTED' });
  });
});

test('a request cancelled during another compaction keeps its record at the swap', async () => {
  const base = compactionBench();
  let id = '';
  const bench = actingAt(base, 'before-swap', async () => {
    const manual = { requestId: 'request-m', since: base.clock.now() };
    await base.store.commit([
      {
        op: 'update',
        path: conversationPath(id),
        fields: { 'compactionRequests.manual': manual },
        guard: { exists: true },
      },
    ]);
    const caller = { uid: 'u1', tier: 'signedIn' } as const;
    await cancelCompaction(base, { caller, conversationId: id, jobId: 'request-m' });
  });
  id = await buildDue(bench);

  const result = await compactOnce(bench, id);

  const { job, conversation } = await see(bench.store, id);
  expect(result).toMatchObject({ state: 'COMPACTED' });
  expect(conversation.compactionRequests).toEqual({});
  expect(job?.records).toMatchObject([
    { requestId: 'request-m', state: 'ABORTED' },
    { requestId: 'request-1', state: 'COMPACTED' },
  ]);
});
