import type { ProbedState } from './probe-run.ts';

/** From here on an answer counts as right, as in the survival measure. */
const rightFrom = 0.8;

export interface ProbeResult {
  conversation: string;
  id: string;
  category: string;
  question: string;
  expected: string;
  replies: Record<ProbedState, string>;
  scores: Record<ProbedState, number>;
}

interface StateFigures {
  n: number;
  /** Share of the probes with a score of at least 0.8. */
  right: number;
  meanScore: number;
}

const states = ['before', 'after', 'blanked'] as const;

const share = (count: number, input: number): number =>
  input === 0 ? 0 : Math.round((1_000 * count) / input) / 1_000;

function stateFigures(results: readonly ProbeResult[], state: ProbedState): StateFigures {
  const scores = results.map((result) => result.scores[state]);
  return {
    n: scores.length,
    right: share(scores.filter((score) => score >= rightFrom).length, scores.length),
    meanScore: share(
      scores.reduce((sum, score) => sum + score, 0),
      scores.length,
    ),
  };
}

/** Shares per state, of all probes and of each category. */
export function probeFigures(results: readonly ProbeResult[]) {
  const input = (chosen: readonly ProbeResult[]) => ({
    before: stateFigures(chosen, 'before'),
    after: stateFigures(chosen, 'after'),
    blanked: stateFigures(chosen, 'blanked'),
  });
  const categories = [...new Set(results.map(({ category }) => category))].toSorted();
  const answered = results.filter(({ scores }) => scores.before >= rightFrom);
  return {
    all: input(results),
    /** Only the probes that were right before: what the compaction did to them. */
    rightBefore: input(answered),
    categories: Object.fromEntries(
      categories.map((category) => [
        category,
        input(results.filter((result) => result.category === category)),
      ]),
    ),
  };
}

const titles = {
  before: 'before (full history)',
  after: 'after compaction',
  blanked: 'snapshot blanked',
} as const;

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;

/** One line a state, and the categories below it. */
export function probeText(figures: ReturnType<typeof probeFigures>): string {
  const { before, after, blanked } = figures.rightBefore;
  const kept = `of the ${before.n} right before, right after compaction ${percent(after.right)}, with the snapshot blanked ${percent(blanked.right)}`;
  return states
    .flatMap((state) => {
      const { n, right, meanScore } = figures.all[state];
      const categories = Object.entries(figures.categories).map(
        ([name, each]) => `${name} ${percent(each[state].right)} of ${each[state].n}`,
      );
      return [
        `${titles[state].padEnd(24)} right ${percent(right).padStart(7)} of ${n}, mean score ${meanScore.toFixed(3)}`,
        `${' '.repeat(25)}${categories.join(', ')}`,
      ];
    })
    .concat(kept)
    .join('\n');
}
