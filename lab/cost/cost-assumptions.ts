import { labelFor, percent, times, tokens, turnWeights } from './cost-figures.ts';
import type { CostRun, ShapeRun } from './cost-run.ts';
import { CLI_SUMMARY_CHARACTERS, cliSummariser } from './counted/summarisers.ts';
import { GEMINI_CLI, TAILS } from './strategies.ts';

/** Of its default threshold. */
const largestTurn = ({ counted, usual }: ShapeRun): number =>
  Math.max(...turnWeights(counted.turns)) / usual.thresholdTokens;

/** Cost ÷ optimum at the default threshold and at those beside it, at a hit rate. */
function ratiosAround({ usual, hits }: ShapeRun, hitFraction: number) {
  const hit = hits.find((each) => each.hitFraction === hitFraction) ?? hits[0];
  const points = (hit?.points ?? []).toSorted((a, b) => a.thresholdTokens - b.thresholdTokens);
  const at = points.findIndex((point) => point.thresholdTokens === usual.thresholdTokens);
  return points.slice(Math.max(0, at - 1), at + 2).map(({ thresholdTokens, total }) => ({
    thresholdTokens,
    ratio: total / (hit?.optimum ?? Number.NaN),
  }));
}

/** How much it depends on where the threshold lies, for the conversation whose turns are the largest beside it. */
export function describeLargeTurns({
  shapes,
  hitFraction,
}: Pick<CostRun, 'shapes' | 'hitFraction'>): string {
  const [shape] = shapes.toSorted((a, b) => largestTurn(b) - largestTurn(a));
  if (shape === undefined || largestTurn(shape) <= 1) return 'No turn is larger than a threshold.';
  const around = ratiosAround(shape, hitFraction);
  const steps = around.slice(1).map(({ ratio }, index) => {
    const before = around[index]?.ratio ?? ratio;
    return Math.max(ratio, before) / Math.min(ratio, before) - 1;
  });
  const listed = around.map(
    ({ thresholdTokens, ratio }, index) =>
      `${times(ratio, 1)} ${index === 0 ? '× the optimum ' : ''}at ${tokens(thresholdTokens)}`,
  );
  return `Where a turn is larger than the threshold, a figure moves as the threshold comes to lie before or behind it, in ${labelFor(shape)} by up to ${percent(Math.max(...steps))} from one threshold to the next (${listed.join(', ')}); the service would shorten the view of such a turn, which is left out.`;
}

/** What the figures rest on, as a list in Markdown. */
export const assumptions = (run: CostRun): string =>
  [
    `- **Hits.** A hit saves what the prompt shares with the one before, from ${tokens(run.cacheFromTokens)} tokens on with \`${run.model}\`; the registry has the limit of each model. The first prompt after a swap shares only instruction and tools. What is recalled stands before the message, behind all that is cached, and is paid in full; at the next turn the prompt differs from there on.`,
    `- **Recall** brings back as much as it may in every turn, once something was folded. **Optimum** does so too, with the default's tail and snapshot: it chooses when to compact, and knows all sizes and prices in advance (dynamic programming). "Any tail" also chooses the tail (${tokens(Math.min(...TAILS))} to ${tokens(Math.max(...TAILS))} tokens). No policy that decides as the conversation goes can be cheaper with these. "Calls of Gemini CLI" has a smaller snapshot and no recall. More compactions may keep less: see [fidelity](fidelity.md).`,
    `- **Gemini CLI** compacts at ${percent(GEMINI_CLI.thresholdFraction)} of the window, keeps ${percent(GEMINI_CLI.keptFraction)}, reads the rest twice (its check shares the prompt of its summary) and writes ${tokens(cliSummariser.outputTokens)} tokens each time, as recorded with ${tokens(CLI_SUMMARY_CHARACTERS)} characters allowed. If the summary is no shorter, it asks no more. Masking of tool outputs is left out for both.`,
    `- **Operations**: a replay with the fake Gemini counted ${run.operations.turn.reads.toFixed(1)} reads and ${run.operations.turn.writes.toFixed(1)} writes a turn; ${run.operations.compaction.reads.toFixed(1)} reads, ${run.operations.compaction.writes.toFixed(1)} writes and ${Math.round(run.operations.compaction.messages)} messages a compaction. Others pay for no store.`,
    `- **Large turns.** Each recorded conversation is one. ${describeLargeTurns(run)}`,
    '- **Not included**: thinking (the recorded answers tell of none, and the service leaves it to the model), storage of caches (implicit caching has no price), functions, network, storage. Free quotas are not deducted. Tokens are estimated. Compactions begin after a turn, never in one.',
  ].join('\n');
