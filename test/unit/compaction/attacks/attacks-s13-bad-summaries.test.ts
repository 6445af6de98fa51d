import { describe, expect, test } from 'vitest';
import { UNSAID_MARK } from '#shared/compaction/values.ts';
import { badSummaries, turns } from '#test/support/attacks/bad-summaries.ts';
import { foldInMemory } from '#test/support/attacks/fold-in-memory.ts';

/* Row S13 of the security checklist: summaries that are empty, broken or made up. */

/** What code cannot tell from a good summary’s own words: names, days and quotes. docs/attacks.md says so. */
const unseen = /^a name |^a quote |^a date /u;
const UNSEEN_COUNT = 30;

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
          isInvented:
            invented !== '' &&
            rendered.replaceAll(`${invented}${UNSAID_MARK}`, '').includes(invented),
        };
      });

      expect(results.length).toBeGreaterThanOrEqual(100);
      const swappedIn = results.filter(({ isInvented }) => isInvented);
      expect(swappedIn.filter(({ kind }) => !unseen.test(kind))).toEqual([]);
      expect(swappedIn.length).toBeLessThanOrEqual(UNSEEN_COUNT);
      expect(new Set(results.map(({ folded }) => folded)).size).toBeGreaterThan(2);
    },
  );
});
