import { resolvePolicy } from '#shared/compaction/policy.ts';
import { knownPrice } from '#shared/models/find-price.ts';
import { findModel } from '#shared/models/model-entry.ts';
import { parseConfig } from '#functions/config.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { ArgumentError } from '#infra/command-line.ts';
import { billFolds, type Bill, type Fold, type Means, type ModelRates } from './bill.ts';
import { listSteps, type Shape } from './conversation.ts';
import { foldAtThreshold, foldLikeGeminiCli } from './folds.ts';
import { cliSummariser, cloudPrices, countedOperations, ledgerSummariser } from './prices.ts';

/** Gemini CLI asks at half of the window and keeps 30 %. */
export const GEMINI_CLI = { thresholdFraction: 0.5, keptFraction: 0.3 };

const HIT_FRACTIONS = [0, 0.5, 0.9];

/** Thresholds that a default may have. */
const THRESHOLDS = [12, 16, 20, 24, 32, 48, 64].map((each) => each * 1_000);

/** As the service sets it up: every message brings back as much as it may. */
const { RECALL_TOKENS } = parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap' });

export interface Asked {
  model: string;
  /** Share of prompts that find the beginning of the prompt before in the cache, 0 to 1. */
  hitFraction: number;
  overheadTokens: number;
}

/** What one conversation costs, by how it is kept short. */
interface Bills {
  naive: Bill;
  geminiCli: Bill;
  /** At its defaults. */
  recap: Bill;
  /** Of Recap at other thresholds, with the default's tail, where a swap saves as much as it must. */
  thresholds: { thresholdTokens: number; bill: Bill }[];
  /** The least of Recap's. */
  best: Bill;
}

/** What was computed for one conversation. */
export interface ShapeCosts extends Shape, Bills {
  thresholdTokens: number;
  tailTokens: number;
  snapshotTokens: number;
  /** The same by other shares of hits. */
  hits: (Bills & { hitFraction: number })[];
}

/** Throws ArgumentError for a model without a price. */
function ratesFor(model: string): ModelRates {
  const price = knownPrice(model, verifiedModels);
  if (price === undefined) throw new ArgumentError(`the price of ${model} is not known`);
  return { price, cacheFromTokens: cacheFromTokens(model) };
}

/** Prompts that share fewer tokens with the one before are not served from its cache; Infinity: it has none. */
export const cacheFromTokens = (model: string): number =>
  findModel(verifiedModels.models, model)?.cacheFromTokens ?? Infinity;

const nothing = { reads: 0, writes: 0, messages: 0 };

/** Without a store and recall. */
const others: Means = {
  summariser: cliSummariser,
  recalledTokens: 0,
  turn: nothing,
  compaction: nothing,
};

const policyFor = ({ profile }: Shape, model: string) => resolvePolicy({ model, profile });

function billShape(shape: Shape, { model, hitFraction, overheadTokens }: Asked): Bills {
  const { turns, turnCount } = shape;
  const policy = policyFor(shape, model);
  const { windowTokens, tailTokens, rearmFraction, minimumSavingFraction } = policy;
  const steps = listSteps(turns, turnCount);
  const conversation = { steps, turns: turnCount, overheadTokens, hitFraction };
  const rates = { model: ratesFor(model), cloud: cloudPrices, windowTokens };
  const summariser = ledgerSummariser(policy);
  const { snapshotTokens } = summariser;
  const means: Means = { summariser, recalledTokens: RECALL_TOKENS, ...countedOperations };
  const bill = (folds: readonly Fold[], by: Means) =>
    billFolds(conversation, folds, { rates, means: by });
  const foldAt = (thresholdTokens: number) =>
    foldAtThreshold(conversation, { thresholdTokens, tailTokens, snapshotTokens, rearmFraction });
  const isPossible = (thresholdTokens: number) =>
    snapshotTokens + tailTokens <= (1 - minimumSavingFraction) * thresholdTokens;
  const cli = { ...GEMINI_CLI, windowTokens, snapshotTokens: cliSummariser.snapshotTokens };
  const recap = bill(foldAt(policy.softThresholdTokens ?? Infinity), means);
  const thresholds = THRESHOLDS.filter(isPossible).map((thresholdTokens) => ({
    thresholdTokens,
    bill: bill(foldAt(thresholdTokens), means),
  }));
  return {
    naive: bill([], others),
    geminiCli: bill(foldLikeGeminiCli(conversation, cli), others),
    recap,
    thresholds,
    best: thresholds.reduce(
      (best, each) => (each.bill.total < best.total ? each.bill : best),
      recap,
    ),
  };
}

/** US dollars for a thousand turns of a conversation. Throws ArgumentError for a model without a price. */
export function compareCosts(shape: Shape, asked: Asked): ShapeCosts {
  const policy = policyFor(shape, asked.model);
  return {
    ...shape,
    ...billShape(shape, asked),
    thresholdTokens: policy.softThresholdTokens ?? Infinity,
    tailTokens: policy.tailTokens,
    snapshotTokens: ledgerSummariser(policy).snapshotTokens,
    hits: HIT_FRACTIONS.map((hitFraction) => ({
      hitFraction,
      ...billShape(shape, { ...asked, hitFraction }),
    })),
  };
}
