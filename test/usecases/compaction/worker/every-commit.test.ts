import { describe, expect, test } from 'vitest';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { brokenRules } from '#test/support/compaction/commit-rules.ts';
import {
  buildDue,
  compactOnce,
  neverAborted,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { historiesOf } from '#test/support/compaction/stored-histories.ts';
import { longListings, openBreaker } from '#test/support/tools/tool-conversation.ts';

/** What goes wrong at one commit. */
type Fault =
  /** Applied, and the worker learns of a failure. */
  | 'loses its reply'
  /** Not applied, and the worker learns of it. */
  | 'is refused'
  /** The process ends before it, or after it. */
  | 'is preceded by a crash'
  | 'is followed by a crash';

const faults: Fault[] = [
  'loses its reply',
  'is refused',
  'is preceded by a crash',
  'is followed by a crash',
];

/** The store as one process sees it: its `nth` commit goes wrong, and after a crash nothing works. */
function faultyStore(store: DocumentStore, fault: Fault, nth: number) {
  const seen = { commits: 0, broken: [] as string[] };
  let isDead = false;
  const alive = () => {
    if (isDead) throw new Error('the process is gone');
  };
  const die = (): never => {
    isDead = true;
    throw new Error('the process is gone');
  };
  const away = () => new StoreUnavailableError({ operation: 'commit' });
  const faulty: DocumentStore = {
    ...store,
    get: async (paths) => {
      alive();
      const found = await store.get(paths);
      alive();
      return found;
    },
    commit: async (writes) => {
      alive();
      seen.commits += 1;
      seen.broken.push(...brokenRules(writes));
      if (seen.commits !== nth) return store.commit(writes);
      if (fault === 'is preceded by a crash') die();
      if (fault === 'is refused') throw away();
      await store.commit(writes);
      if (fault === 'is followed by a crash') die();
      throw away();
    },
  };
  return { store: faulty, seen };
}

const builds = {
  'a compaction': (bench: CompactionBench) => buildDue(bench),
  'a shortening of tool outputs': async (bench: CompactionBench) => {
    const conversationId = await buildDue(bench, { turns: longListings(2) });
    await openBreaker(bench, conversationId);
    return conversationId;
  },
};
const runs: { what: keyof typeof builds; commits: number }[] = [
  { what: 'a compaction', commits: 5 },
  { what: 'a shortening of tool outputs', commits: 5 },
];

const rows = runs.flatMap(({ what, commits }) =>
  Array.from({ length: commits }, (_, i) => i + 1).flatMap((nth) =>
    faults.map((fault) => ({ what, nth, fault })),
  ),
);

describe('every commit of a run', () => {
  test.each(runs)('a run of $what commits $commits times', async ({ what, commits }) => {
    const bench = compactionBench();
    const conversationId = await builds[what](bench);
    const { store, seen } = faultyStore(bench.store, 'is refused', 0);

    await compactOnce({ ...bench, store }, conversationId);

    expect(seen).toEqual({ commits, broken: [] });
  });

  test.each(rows)(
    'commit $nth of $what that $fault still leads to one swap and no request',
    async ({ what, nth, fault }) => {
      const bench = compactionBench({ store: createMemoryDocumentStore() });
      const conversationId = await builds[what](bench);
      const { store, seen } = faultyStore(bench.store, fault, nth);

      await compactOnce({ ...bench, store }, conversationId).catch(() => undefined);
      for (let delivery = 0; delivery < 3; delivery++) {
        bench.clock.advance(61_000);
        await runSweep(bench, neverAborted());
        await compactOnce(bench, conversationId);
      }

      const { conversation, job } = await see(bench.store, conversationId);
      expect(seen.commits).toBeGreaterThanOrEqual(nth);
      expect(seen.broken).toEqual([]);
      expect(await historiesOf(bench, conversationId)).toHaveLength(1);
      expect(conversation).toMatchObject({ generation: 1, compactionRequests: {} });
      expect(job?.owner).toBe('');
      expect(job?.records.filter(({ generation }) => generation === 1)).toHaveLength(1);
    },
  );
});
