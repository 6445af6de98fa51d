import { describe, expect, test } from 'vitest';
import {
  buildDue,
  compactOnce,
  manualRequest,
  overflowRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

describe('NOOP', () => {
  test('compacting an empty conversation by hand is a NOOP', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      turns: 0,
      conversation: { compactionRequests: manualRequest() },
    });

    const result = await compactOnce(bench, conversationId);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'NOOP', reason: 'NOTHING_TO_FOLD' });
    expect(conversation).toMatchObject({ generation: 0, compactionRequests: {} });
    expect(job?.records).toMatchObject([{ state: 'NOOP', beforeTokens: 0, afterTokens: 0 }]);
  });

  test('a context below the threshold again is a NOOP without a model call', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { turns: 3 });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'BELOW_THRESHOLD' });
    expect(bench.model.calls).toHaveLength(0);
    expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
  });

  test('a turn no summariser window holds is recorded as too large, without a breaker', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      turns: [{ answer: 'word '.repeat(8_000) }],
      conversation: {
        settings: { windowTokens: 8_000 },
        compactionRequests: overflowRequest(),
      },
    });

    const result = await compactOnce(bench, conversationId);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'FAILED_ERROR', reason: 'TURN_TOO_LARGE' });
    expect(conversation).toMatchObject({ generation: 0, compactionRequests: {} });
    expect(job).toMatchObject({
      brake: { failures: 0 },
      records: [{ state: 'FAILED_ERROR', reason: 'TURN_TOO_LARGE', modelCalls: 0 }],
    });
  });

  test('a vetoing hook makes the attempt a NOOP before the model call', async () => {
    const bench = compactionBench({
      hooks: {
        preCompact: [{ name: 'legal-hold', run: () => Promise.resolve({ veto: true }) }],
        postCompact: [],
      },
    });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'VETOED' });
    expect(bench.model.calls).toHaveLength(0);
  });
});
