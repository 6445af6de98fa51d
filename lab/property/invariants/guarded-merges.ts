import { unguardedMerges } from '#test/support/compaction/commit-rules.ts';
import type { Invariant } from './invariant.ts';

/**
 * A merge has no guard: where its batch relies on nothing that was read, it may come after the erasure of its conversation,
 * and bring back an entry of it.
 */
export const guardedMerges: Invariant = {
  name: 'I12 merges stand only in batches that something holds back which was read',
  violations: ({ journal }) =>
    journal.commits.flatMap(({ writes }, index) =>
      unguardedMerges(writes).map((fault) => `commit ${index + 1}: ${fault}`),
    ),
};
