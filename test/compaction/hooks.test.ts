import { describe, expect, test } from 'vitest';
import type { CompactionHookEvent } from '../../shared/compaction/hooks.ts';
import { compactionBench } from '../support/compaction-dependencies.ts';
import { buildDue, compactOnce } from '../support/compacted-conversation.ts';

const failing = { name: 'backup', run: () => Promise.reject(new Error('disk full')) };

describe('hooks around a compaction', () => {
  test('are told the trigger, the range and the size, before and after', async () => {
    const told: CompactionHookEvent[] = [];
    const tell = (event: CompactionHookEvent) => {
      told.push(event);
      return Promise.resolve(undefined);
    };
    const bench = compactionBench({
      hooks: {
        preCompact: [{ name: 'before', run: tell }],
        postCompact: [{ name: 'after', run: tell }],
      },
    });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    expect(told).toMatchObject([
      { conversationId, trigger: 'auto', generation: 0, from: 1 },
      { conversationId, trigger: 'auto', from: 1, state: 'COMPACTED' },
    ]);
    expect(told[0]?.upTo).toBeGreaterThan(10);
    expect(told[0]?.beforeTokens).toBeGreaterThan(1_000);
  });

  test('are not run when there is nothing to do', async () => {
    let runs = 0;
    const count = () => {
      runs += 1;
      return Promise.resolve(undefined);
    };
    const bench = compactionBench({
      hooks: { preCompact: [{ name: 'count', run: count }], postCompact: [] },
    });
    const conversationId = await buildDue(bench, { turns: 3 });

    await compactOnce(bench, conversationId);

    expect(runs).toBe(0);
  });

  test('that fail are logged and do not stop it', async () => {
    const bench = compactionBench({ hooks: { preCompact: [failing], postCompact: [failing] } });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(bench.logged.filter(({ event }) => event === 'compaction_hook_failed')).toHaveLength(2);
  });

  test.each<[unknown]>([
    [5],
    ['pins'],
    [[]],
    [{ pins: 'all' }],
    [{ pins: { length: 1 } }],
    [{ veto: 'yes' }],
  ])(
    'that answer %j, which is no answer, are logged as failed and do not stop it',
    async (answered) => {
      const run = async () => Promise.resolve(JSON.parse(JSON.stringify(answered)));
      const hooks = { preCompact: [{ name: 'careless', run }], postCompact: [] };
      const bench = compactionBench({ hooks });
      const conversationId = await buildDue(bench);

      const result = await compactOnce(bench, conversationId);

      expect(result).toMatchObject({ state: 'COMPACTED' });
      expect(bench.logged.map(({ event }) => event)).toContain('compaction_hook_failed');
    },
  );

  test('that are required and fail stop it before the model is called', async () => {
    const bench = compactionBench({
      hooks: { preCompact: [{ ...failing, required: true }], postCompact: [] },
    });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ kind: 'retry', reason: 'HOOK_FAILED' });
    expect(bench.model.calls).toHaveLength(0);
  });

  test('that hang are left after ten seconds', async () => {
    const bench = compactionBench();
    const hanging = compactionBench({
      ...bench,
      hooks: {
        preCompact: [
          {
            name: 'hang',
            run: () => {
              const { promise } = Promise.withResolvers<undefined>();
              bench.clock.advance(10_000);
              return promise;
            },
          },
        ],
        postCompact: [],
      },
    });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(hanging, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
  });
});
