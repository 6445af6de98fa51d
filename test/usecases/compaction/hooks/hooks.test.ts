import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import type {
  CompactionHookEvent,
  PreCompactAnswer,
  PreCompactEvent,
} from '#shared/compaction/hooks.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import {
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { describe, expect, test } from 'vitest';

const failing = { name: 'backup', run: () => Promise.reject(new Error('disk full')) };

describe('hooks around a compaction', () => {
  test('compaction hooks get trigger, range and size, before and after', async () => {
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
    expect(told[1]).toMatchObject({ beforeTokens: told[0]?.beforeTokens });
  });

  test('compaction hooks do not run when there is nothing to do', async () => {
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

  test('compaction hooks that fail are logged and do not stop it', async () => {
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
    'compaction hooks that answer %j, which is invalid, are logged and do not stop it',
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

  test('a required compaction hook that fails stops it before the model call', async () => {
    const bench = compactionBench({
      hooks: { preCompact: [{ ...failing, required: true }], postCompact: [] },
    });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ kind: 'retry', reason: 'HOOK_FAILED' });
    expect(bench.model.calls).toHaveLength(0);
  });

  test('compaction hooks that hang are abandoned after ten seconds', async () => {
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

/** A PreCompact hook that keeps what it is told, and answers. */
function keeping(answer?: PreCompactAnswer) {
  const told: PreCompactEvent[] = [];
  const run = (event: PreCompactEvent) => {
    told.push(event);
    return Promise.resolve(answer);
  };
  return { told, hooks: { preCompact: [{ name: 'keeping', run }], postCompact: [] } };
}

/** A compaction that a person asks for and that has nothing to fold: all is in one turn. */
const buildNoop = (bench: CompactionBench, profile: Conversation['profile']) =>
  buildDue(bench, { turns: 1, conversation: { profile, compactionRequests: manualRequest() } });

describe('a compaction that ends as NOOP', () => {
  test('a NOOP compaction in the gemini-cli profile fires PreCompact with nothing to fold', async () => {
    const { told, hooks } = keeping();
    const bench = compactionBench({ hooks });
    const id = await buildDue(bench, {
      turns: 3,
      conversation: { profile: 'gemini-cli', settings: { thresholdTokens: 100_000 } },
    });

    const result = await compactOnce(bench, id);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'BELOW_THRESHOLD' });
    expect(told).toMatchObject([{ conversationId: id, trigger: 'auto', turnsFolded: 0 }]);
    expect(told[0]).not.toHaveProperty('foldedTurns');
  });

  test.each(['assistant', 'coding'] as const)(
    'a NOOP compaction fires no hook in the profile %s',
    async (profile) => {
      const { told, hooks } = keeping();
      const bench = compactionBench({ hooks });

      const result = await compactOnce(bench, await buildNoop(bench, profile));

      expect(result).toMatchObject({ state: 'NOOP' });
      expect(told).toEqual([]);
    },
  );

  test('a planned NOOP compaction fires PreCompact too, whatever it answers', async () => {
    const { told, hooks } = keeping({ veto: true, note: 'x', pins: [{ id: 'a', text: 'b' }] });
    const bench = compactionBench({ hooks });
    const id = await buildNoop(bench, 'gemini-cli');

    const result = await compactOnce(bench, id);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'NOTHING_TO_FOLD' });
    expect(told).toMatchObject([{ trigger: 'manual', turnsFolded: 0 }]);
    expect((await see(bench.store, id)).conversation.pins).toEqual([]);
  });

  test('a NOOP compaction of an empty conversation fires no hook', async () => {
    const { told, hooks } = keeping();
    const bench = compactionBench({ hooks });
    const conversation = { profile: 'gemini-cli', compactionRequests: manualRequest() } as const;

    await compactOnce(bench, await buildDue(bench, { turns: 0, conversation }));

    expect(told).toEqual([]);
  });

  test('a NOOP compaction is settled even when the worker is stopped meanwhile', async () => {
    const leaving = new AbortController();
    const { promise } = Promise.withResolvers<undefined>();
    const run = () => {
      leaving.abort();
      return promise;
    };
    const bench = compactionBench({
      hooks: { preCompact: [{ name: 'hang', run }], postCompact: [] },
    });
    const conversation = { profile: 'gemini-cli', settings: { thresholdTokens: 100_000 } } as const;
    const conversationId = await buildDue(bench, { turns: 3, conversation });

    const result = await runCompaction(bench, { conversationId, signal: leaving.signal });

    expect(result).toMatchObject({ state: 'NOOP', reason: 'BELOW_THRESHOLD' });
    expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
  });

  test('a NOOP compaction stays one when a required hook fails', async () => {
    const preCompact = [{ ...failing, required: true }];
    const bench = compactionBench({ hooks: { preCompact, postCompact: [] } });

    const result = await compactOnce(bench, await buildNoop(bench, 'gemini-cli'));

    expect(result).toMatchObject({ kind: 'done', state: 'NOOP' });
    expect(bench.logged.map(({ event }) => event)).toContain('compaction_hook_failed');
  });
});
