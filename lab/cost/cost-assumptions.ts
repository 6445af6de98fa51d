import { percent, tokens } from './cost-figures.ts';
import type { CostRun } from './cost-run.ts';
import { GEMINI_CLI } from './strategies.ts';
import { CLI_SUMMARY_CHARACTERS, cliSummariser, GROWN_ROOM } from './summarisers.ts';

/** What the figures rest on, as a list in Markdown. */
export const assumptions = (run: CostRun): string =>
  [
    `- **Hits.** A hit saves what the prompt shares with the one before, from ${tokens(run.cacheFromTokens)} tokens on with \`${run.model}\`; the registry has the limit of each model. The first prompt after a swap shares only instruction and tools. What is recalled stands before the message, behind all that is cached, and is paid in full; at the next turn the prompt differs from there on.`,
    `- **Compactions** of Recap are one call each: it reads an instruction of ${tokens(run.instructionTokens)} tokens, the folded turns in full and the snapshot before, and writes as much as its snapshot has. A snapshot fills its room, ${GROWN_ROOM} × the budget, as from the third fold on.`,
    '- **Recall** brings back as much as it may in every turn, once something was folded. **Optimum** does so too, with the tail and snapshot of the default: it chooses when to compact, and knows all sizes and prices in advance (dynamic programming). No policy that decides as the conversation goes can be cheaper with these. More compactions may keep less.',
    `- **Gemini CLI** compacts at ${percent(GEMINI_CLI.thresholdFraction)} of the window, keeps ${percent(GEMINI_CLI.keptFraction)}, reads the rest twice (its check shares the prompt of its summary) and writes ${tokens(cliSummariser.outputTokens)} tokens each time, as recorded with ${tokens(CLI_SUMMARY_CHARACTERS)} characters allowed. If the summary is no shorter, it asks no more. Masking of tool outputs is left out for both.`,
    `- **Operations**: a replay with the fake Gemini counted ${run.operations.turn.reads.toFixed(1)} reads and ${run.operations.turn.writes.toFixed(1)} writes a turn; ${run.operations.compaction.reads.toFixed(1)} reads, ${run.operations.compaction.writes.toFixed(1)} writes and ${Math.round(run.operations.compaction.messages)} messages a compaction. Others pay for no store.`,
    '- **Large turns.** Each recorded conversation is one. Where a turn is larger than the threshold, as in coding, a figure moves as the threshold comes to lie before or behind it; the service would shorten the view of such a turn, which is left out.',
    '- **Not included**: thinking, which the service leaves to the model, storage of caches (implicit caching has no price), functions, network, storage. Free quotas are not deducted. Tokens are estimated. Compactions begin after a turn, never in one.',
  ].join('\n');
