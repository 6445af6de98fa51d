import { describe, expect, test } from 'vitest';
import { buildDue, compactOnce, see } from '../support/compacted-conversation.ts';
import { compactionBench } from '../support/compaction-dependencies.ts';

describe('crashes', () => {
  test.each(['claimed', 'planned', 'summarised', 'verified', 'swapped', 'settled'])(
    'a worker that dies when it has %s is finished by the next delivery, with one swap',
    async (point) => {
      const bench = compactionBench();
      const conversationId = await buildDue(bench);
      const dying = compactionBench({
        ...bench,
        atCrashPoint: (name) =>
          name === point ? Promise.reject(new Error(`died at ${name}`)) : Promise.resolve(),
      });
      await expect(compactOnce(dying, conversationId)).rejects.toThrow(`died at ${point}`);

      bench.clock.advance(61_000);
      await compactOnce(bench, conversationId);

      const { head, job } = await see(bench.store, conversationId);
      expect(head).toMatchObject({ generation: 1, compactionNeeded: {} });
      expect(job?.owner).toBe('');
      expect(job?.records.filter(({ state }) => state === 'COMPACTED')).toHaveLength(1);
    },
  );

  test('before the lease of a dead worker has expired the next one waits', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const dying = compactionBench({
      ...bench,
      atCrashPoint: () => Promise.reject(new Error('died')),
    });
    await expect(compactOnce(dying, conversationId)).rejects.toThrow('died');

    const result = await compactOnce(bench, conversationId);

    expect(result).toEqual({ kind: 'retry', reason: 'LEASE_HELD', retryAfterMs: 60_000 });
  });

  test('a need whose worker always dies is settled after three attempts', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    const dying = compactionBench({
      ...bench,
      atCrashPoint: (name) =>
        name === 'planned' ? Promise.reject(new Error('died')) : Promise.resolve(),
    });
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(compactOnce(dying, conversationId)).rejects.toThrow('died');
      bench.clock.advance(61_000);
    }

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'FAILED_ERROR', reason: 'ATTEMPTS_USED_UP' });
    expect((await see(bench.store, conversationId)).head.compactionNeeded).toEqual({});
  });
});
