import { describe, expect, test } from 'vitest';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { modelDown } from '#test/support/model-down.ts';

describe('reports', () => {
  test('every attempt has one chat_compression log line and one event', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const lines = bench.logged.filter(({ event }) => event === 'chat_compression');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.fields).toMatchObject({ status: 'COMPACTED', trigger: 'auto' });
    expect(bench.published.map(({ data }) => data)).toMatchObject([
      { type: 'compaction.started', conversationId, requestId: 'request-1' },
      { type: 'compaction.verified', conversationId, state: 'VERIFYING', calls: 1 },
      { type: 'compaction.swapped', conversationId, generation: 1, calls: 1, lagMs: 5_000 },
    ]);
  });

  test('a NOOP reports the same size before and after', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { turns: 3 });

    await compactOnce(bench, conversationId);

    const fields = bench.logged.find(({ event }) => event === 'chat_compression')?.fields;
    expect(fields?.['status']).toBe('NOOP');
    expect(fields?.['tokens_before']).toBe(fields?.['tokens_after']);
  });

  test('an attempt’s log line has the tokens of its model calls', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const fields = bench.logged.find(({ event }) => event === 'chat_compression')?.fields;
    expect(fields?.['promptTokens']).toBeGreaterThan(0);
    expect(fields?.['outputTokens']).toBeGreaterThan(0);
  });

  test('an unavailable event topic does not fail a compaction', async () => {
    const bench = compactionBench({ publisher: { publish: () => Promise.reject(modelDown()) } });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
  });

  test('a defect is logged with its code location and without message text', async () => {
    const bench = compactionBench({
      model: createScriptedModel({
        answers: [new Error('cannot read this:\n    at home I keep the key under the mat')],
      }),
    });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const line = bench.logged.find(({ event }) => event === 'compaction_defect');
    expect(String(line?.fields['stack'])).toContain('outcomes.test.ts');
    expect(JSON.stringify(bench.logged)).not.toContain('under the mat');
  });

  test('no log line holds message text', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    expect(JSON.stringify(bench.logged)).not.toMatch(/Question|Answer|Busan/);
  });
});
