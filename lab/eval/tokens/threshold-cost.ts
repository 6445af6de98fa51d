/**
 * What recorded conversations would cost under different thresholds, at the list prices of a model: every answer
 * is a call that reads the whole context, some of it from the cache, and at the threshold a compaction reads it
 * once more. Nothing is called. Why the table of thresholds has the values that it has.
 *
 *   node lab/eval/tokens/threshold-cost.ts [model, default gemini-3.8-flash [profile, default assistant]] FILE.jsonl…
 */
import { existsSync, readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { breakEvenTurns } from '#shared/compaction/policy/break-even.ts';
import { resolvePolicy } from '#shared/compaction/policy/policy.ts';
import { findModel, type ModelPrice } from '#shared/models/model-entry.ts';
import { knownPrice, tokenMicros } from '#shared/models/find-price.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { parseRecordings, type Recording } from '../replay/recording.ts';

/** In steps of about a quarter. */
const THRESHOLDS = [4, 6, 8, 12, 16, 19, 24, 32, 40, 48, 64, 96, 128, 256, 512].map(
  (thousands) => thousands * 1_000,
);
/** Tokens of the summariser's instruction and schema, and of a scratchpad. */
const REQUEST_TOKENS = 2_000;
const SCRATCHPAD_TOKENS = 300;
/** Most models bill thoughts; so many for a compaction. */
const THOUGHT_TOKENS = 1_000;

interface Costs {
  /** US dollars a thousand calls, compactions included. */
  usdPerThousandCalls: number;
  compactions: number;
  /** Largest prompt. */
  peakTokens: number;
}

interface Assumptions {
  thresholdTokens: number;
  price: ModelPrice;
  /** Shorter prompts are not cached. */
  cacheFromTokens: number;
  /** Share of calls that find the prompt of the call before in the cache. */
  hitFraction: number;
  /** Whose tail it is; default: `assistant`. */
  profile?: string;
}

/** Tokens right after a swap: snapshot and tail as the policy of that threshold has them. */
function afterSwap(thresholdTokens: number, profile: string) {
  const { snapshotBudgetTokens, tailTokens } = resolvePolicy({
    model: 'gemini-3.8-flash',
    profile,
    conversation: { thresholdTokens },
  });
  return { snapshotTokens: snapshotBudgetTokens, tokens: snapshotBudgetTokens + tailTokens };
}

/** What a recording costs. Prices are per million; nothing else than text is counted. */
export function costsOf({ turns, system }: Recording, assumed: Assumptions): Costs {
  const { thresholdTokens, price, cacheFromTokens, hitFraction, profile = 'assistant' } = assumed;
  const after = afterSwap(thresholdTokens, profile);
  const overheadTokens =
    system === undefined
      ? 0
      : estimateContentTokens({ role: 'user', parts: [{ text: system }] }, 'character-class');
  let micros = 0;
  let contextTokens = 0;
  let knownTokens = 0;
  const seen = { calls: 0, compactions: 0, peakTokens: 0 };
  for (const [index, content] of turns.entries()) {
    const tokens = estimateContentTokens(content, 'character-class');
    if (content.role === 'model') {
      const promptTokens = overheadTokens + contextTokens;
      const reusable = promptTokens < cacheFromTokens ? 0 : overheadTokens + knownTokens;
      const cachedTokens = hitFraction * Math.min(reusable, promptTokens);
      micros += tokenMicros(price, { promptTokens, cachedTokens, outputTokens: tokens });
      knownTokens = contextTokens;
      seen.calls += 1;
      seen.peakTokens = Math.max(seen.peakTokens, promptTokens);
    }
    contextTokens += tokens;
    const isTurnOver = turns[index + 1]?.role !== 'model' && content.role === 'model';
    if (!isTurnOver || contextTokens < thresholdTokens) continue;
    micros += tokenMicros(price, {
      promptTokens: contextTokens + REQUEST_TOKENS,
      cachedTokens: 0,
      outputTokens: after.snapshotTokens / 2 + SCRATCHPAD_TOKENS + THOUGHT_TOKENS,
    });
    contextTokens = Math.min(contextTokens, after.tokens);
    knownTokens = 0;
    seen.compactions += 1;
  }
  const { calls, compactions, peakTokens } = seen;
  return { usdPerThousandCalls: micros / 1_000 / Math.max(1, calls), compactions, peakTokens };
}

/** After how many calls a compaction at the threshold has paid for itself, if every prompt were cached. */
export function callsToPay(
  thresholdTokens: number,
  { price, profile = 'assistant' }: Pick<Assumptions, 'price' | 'profile'>,
): number {
  const { tokens, snapshotTokens } = afterSwap(thresholdTokens, profile);
  return breakEvenTurns({
    tokensBefore: thresholdTokens,
    tokensAfter: tokens,
    summaryTokens: snapshotTokens / 2 + SCRATCHPAD_TOKENS + THOUGHT_TOKENS,
    prices: {
      chatInput: price.input,
      cachedFraction: price.cached / price.input,
      summariserInput: price.input,
      summariserOutput: price.output,
    },
  });
}

function report(
  recordings: readonly Recording[],
  assumed: Pick<Assumptions, 'price' | 'cacheFromTokens' | 'profile'>,
): string {
  const lines = [
    'threshold  pays after  US$ for 1,000 calls, 50 % | 90 % | 0 % of them from the cache',
  ];
  for (const thresholdTokens of THRESHOLDS) {
    const means = [0.5, 0.9, 0].map((hitFraction) => {
      const costs = recordings.map((one) =>
        costsOf(one, { ...assumed, thresholdTokens, hitFraction }),
      );
      const sum = costs.reduce((all, { usdPerThousandCalls }) => all + usdPerThousandCalls, 0);
      return (sum / costs.length).toFixed(2).padStart(8);
    });
    const calls = callsToPay(thresholdTokens, assumed).toFixed(0).padStart(5);
    lines.push(`${String(thresholdTokens).padStart(9)} ${calls} calls ${means.join(' ')}`);
  }
  return lines.join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const given = process.argv.slice(2);
  const [model = 'gemini-3.8-flash', profile = 'assistant'] = given.filter(
    (each) => !each.endsWith('.jsonl'),
  );
  const price = knownPrice(model, verifiedModels);
  const { cacheFromTokens = Infinity } = findModel(verifiedModels.models, model) ?? {};
  const paths = given.filter((path) => path.endsWith('.jsonl') && existsSync(path));
  if (price === undefined) process.stdout.write(`the price of ${model} is not known\n`);
  else if (paths.length === 0) process.stdout.write('nothing to do: there is no such file\n');
  else
    for (const path of paths) {
      const recordings = parseRecordings(readFileSync(path, 'utf8'));
      process.stdout.write(
        `${path}, ${model}, ${profile}\n${report(recordings, { price, cacheFromTokens, profile })}\n`,
      );
    }
}
