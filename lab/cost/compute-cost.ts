import { policyConstants } from '#shared/compaction/policy-constants.ts';
import { knownPrice } from '#shared/models/find-price.ts';
import { findModel } from '#shared/models/model-entry.ts';
import { registry } from '#shared/models/registry.ts';
import { findRetirement } from '#shared/models/retirement.ts';
import { parseConfig } from '#functions/config.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { ArgumentError } from '#lab/eval/replay/replay-arguments.ts';
import { cloudPrices, type Operations } from './cloud-prices.ts';
import type { CostRun, PricedPoint, ShapeRun, Totals } from './cost-run.ts';
import type { ModelRates } from './folds/fold-cost.ts';
import { setUp, type Setup, type Shape } from './shape.ts';
import { openBooks, TAILS, type Books } from './strategies.ts';

const HIT_FRACTIONS = [0, 0.5, 0.9];

/** As the service sets it up: every message brings back as much as it may. */
const { RECALL_TOKENS } = parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap' });

const cacheFromTokens = (model: string): number =>
  findModel(verifiedModels.models, model)?.cacheFromTokens ?? Infinity;

function ratesFor(model: string): ModelRates {
  const price = knownPrice(model, verifiedModels);
  if (price === undefined) throw new ArgumentError(`the price of ${model} is not known`);
  return { price, cacheFromTokens: cacheFromTokens(model) };
}

/** Models in service that have a price and a name of their own. */
export const listModels = (): string[] =>
  Object.entries(registry)
    .filter(([, { prices }]) => prices !== undefined)
    .map(([model]) => model)
    .filter((model) => !model.endsWith('-latest') && !findRetirement(model, verifiedModels));

interface Question {
  model: string;
  hitFraction: number;
  overheadTokens: number;
  /** Of the summariser. */
  instructionTokens: number;
}

type Opened = Setup & { books: Books };

/** Opens the books of a conversation. Throws ArgumentError for a model without a price. */
function openShape(
  shape: Shape,
  { model, ...rest }: Question,
  operations: { turn: Operations; compaction: Operations },
): Opened {
  const setup = setUp(shape, model, rest);
  const rates = {
    chat: ratesFor(model),
    summary: ratesFor(model),
    cloud: cloudPrices,
    windowTokens: setup.policy.windowTokens,
  };
  const given = { rates, recalledTokens: RECALL_TOKENS, ...operations };
  return { ...setup, books: openBooks(setup, given) };
}

/** The service keeps no longer tail. */
const isReachable = ({ thresholdTokens, tailTokens }: PricedPoint): boolean =>
  tailTokens <= policyConstants.tailFraction.value * thresholdTokens;

const sumUp = ({ books }: Opened): Totals => ({
  naive: books.naive().total,
  geminiCli: books.geminiCli().total,
  usual: books.recap(books.usual).total,
  optimum: books.optimum().total,
});

function listBills(books: Books, best: PricedPoint): ShapeRun['bills'] {
  const { usual } = books;
  return {
    naive: books.naive(),
    geminiCli: books.geminiCli(),
    recap: books.recap(usual),
    recapCheapest: books.recap(best),
    optimum: books.optimum(),
  };
}

function computeShape(shape: Shape, open: (changed: Partial<Question>) => Opened): ShapeRun {
  const { books, summariser } = open({});
  const { usual } = books;
  const points = books.points(TAILS).filter(isReachable);
  const [best] = points;
  if (best === undefined) throw new RangeError('no threshold leaves room for a snapshot');
  return {
    ...shape,
    snapshotTokens: summariser.snapshotTokens,
    usual,
    best,
    points,
    bills: listBills(books, best),
    hits: HIT_FRACTIONS.map((hitFraction) => {
      const other = open({ hitFraction });
      return { ...sumUp(other), hitFraction, points: other.books.points([usual.tailTokens]) };
    }),
    models: listModels().map((model) => ({ ...sumUp(open({ model })), model })),
  };
}

/** Computes what is asked for each shape. Throws ArgumentError for a model without a price. */
export function computeCost(
  shapes: readonly Shape[],
  asked: Question,
  operations: { turn: Operations; compaction: Operations },
): Omit<CostRun, 'messageTokens' | 'answerTokens'> {
  const runs = shapes.map((shape) =>
    computeShape(shape, (changed) => openShape(shape, { ...asked, ...changed }, operations)),
  );
  return {
    ...asked,
    cacheFromTokens: cacheFromTokens(asked.model),
    operations,
    shapes: runs,
  };
}
