import { describe, expect, test } from 'vitest';
import { badSummaries, stated, turns, type Strategy } from '#test/support/attacks/bad-summaries.ts';
import { foldInMemory } from '#test/support/attacks/fold-in-memory.ts';
import { rewriteInMemory } from '#test/support/attacks/fold-rewrite.ts';

/* Row S13 of the security checklist: summaries that are empty, broken or made up. */

const strategies: readonly (readonly [Strategy, typeof foldInMemory])[] = [
  ['ledger', foldInMemory],
  ['rewrite', rewriteInMemory],
];

/**
 * What code cannot tell from a good summary’s own words: names; letters of an identifier whose figures were said; and
 * for a rewrite, whose lines name no turn, paraphrases in quotation marks. The ledger keeps counts, days
 * and quotes that nobody said, and its report tells them. docs/attacks.md says so.
 */
const unseen: Readonly<Record<Strategy, RegExp>> = {
  ledger: /^a name |^a quote |^a number |^a date |^QY-7719 for /u,
  rewrite: /^a name |^a quote |^QY-7719 for /u,
};
const unseenCount: Readonly<Record<Strategy, number>> = { ledger: 29, rewrite: 21 };

/** Whether all that the user stated is in a text, but for what the rewrite leaves to the model: bare dates and sums. */
const lost = (rendered: string, strategy: Strategy): string[] =>
  stated
    .filter((fact) => strategy === 'ledger' || /[-@+]/u.test(fact))
    .filter((fact) => !rendered.includes(fact));

describe('S13: of more than a hundred bad summaries', () => {
  test.each(strategies)(
    'S13: none of a hundred bad summaries is swapped in by the %s unchanged',
    { timeout: 300_000 },
    (strategy, fold) => {
      const results = badSummaries(strategy).map(({ kind, answer, invented }) => {
        const folded = fold({ turns, previous: undefined, answer });
        const rendered = folded.kind === 'taken' ? folded.rendered : '';
        return {
          kind,
          folded: folded.kind === 'taken' ? 'taken' : folded.reason,
          isInvented: invented !== '' && rendered.includes(invented),
          lost: folded.kind === 'taken' ? lost(rendered, strategy) : [],
        };
      });

      expect(results.length).toBeGreaterThanOrEqual(100);
      const swappedIn = results.filter(({ isInvented }) => isInvented);
      expect(swappedIn.filter(({ kind }) => !unseen[strategy].test(kind))).toEqual([]);
      expect(swappedIn.length).toBeLessThanOrEqual(unseenCount[strategy]);
      expect(results.filter((result) => result.lost.length > 0)).toEqual([]);
      expect(new Set(results.map(({ folded }) => folded)).size).toBeGreaterThan(2);
    },
  );
});
