import { describe, expect, test } from 'vitest';
import { badSummaries, stated, turns } from '#test/support/attacks/bad-summaries.ts';
import { foldInMemory } from '#test/support/attacks/fold-in-memory.ts';

/* Row S13 of the security checklist: summaries that are empty, broken or made up. */

/**
 * What code cannot tell from a good summary’s own words: names, letters of an identifier whose figures were said, and
 * counts, days and quotes, which the report tells. docs/attacks.md says so.
 */
const unseen = /^a name |^a quote |^a number |^a date |^QY-7719 for /u;
const UNSEEN_COUNT = 29;

describe('S13: of more than a hundred bad summaries', () => {
  test(
    'S13: none of a hundred bad summaries is swapped in by the ledger unchanged',
    { timeout: 300_000 },
    () => {
      const results = badSummaries().map(({ kind, answer, invented }) => {
        const folded = foldInMemory({ turns, previous: undefined, answer });
        const rendered = folded.kind === 'taken' ? folded.rendered : '';
        return {
          kind,
          folded: folded.kind === 'taken' ? 'taken' : folded.reason,
          isInvented: invented !== '' && rendered.includes(invented),
          lost: folded.kind === 'taken' ? stated.filter((fact) => !rendered.includes(fact)) : [],
        };
      });

      expect(results.length).toBeGreaterThanOrEqual(100);
      const swappedIn = results.filter(({ isInvented }) => isInvented);
      expect(swappedIn.filter(({ kind }) => !unseen.test(kind))).toEqual([]);
      expect(swappedIn.length).toBeLessThanOrEqual(UNSEEN_COUNT);
      expect(results.filter(({ lost }) => lost.length > 0)).toEqual([]);
      expect(new Set(results.map(({ folded }) => folded)).size).toBeGreaterThan(2);
    },
  );
});
