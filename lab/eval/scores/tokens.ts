import type { TokenRule } from '#shared/tokens/text-weight.ts';
import { nextCalibration } from '#shared/conversation/context/meter.ts';
import { parseGiven } from '../given-files.ts';
import { ArgumentError } from '../replay/replay-arguments.ts';
import type { Scorer } from '../scorer.ts';
import { parseTokenTruth, type CountedText, type Kind } from './token-truth.ts';

/** Shorter texts are off by more than a fifth for one token. */
const LONG_FROM_TOKENS = 20;
/** Calibration matters for texts that fill a context. */
const CALIBRATED_FROM_TOKENS = 50;
const CLOSE = 0.2;
const SAFE = -0.1;

interface Accuracy {
  n: number;
  /** Share of the rows whose estimate is at most a fifth off. */
  within20: number;
  /** Mean of (estimate − count) / count: below 0 is too low. */
  meanError: number;
  meanAbsoluteError: number;
  /** Share of the rows that are estimated more than a tenth too low. */
  tooLow: number;
}

interface KindFigures {
  all: Accuracy;
  /** Only rows from 20 tokens on. */
  long: Accuracy;
  /** Rows from 50 tokens on, with the calibration that was reached before them. */
  calibrated: { n: number; within2: number };
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : rounded(values.reduce((sum, value) => sum + value, 0) / values.length);
const share = <T>(items: readonly T[], holds: (item: T) => boolean): number =>
  mean(items.map((item) => (holds(item) ? 1 : 0)));

function accuracy(rows: readonly CountedText[], rule: TokenRule): Accuracy {
  const errors = rows.map(({ count, estimate }) => (estimate(rule) - count) / count);
  return {
    n: rows.length,
    within20: share(errors, (error) => Math.abs(error) <= CLOSE),
    meanError: mean(errors),
    meanAbsoluteError: mean(errors.map(Math.abs)),
    tooLow: share(errors, (error) => error < SAFE),
  };
}

const afterPrompts = (rows: readonly CountedText[], rule: TokenRule): number =>
  rows
    .filter(({ isPrompt }) => isPrompt)
    .reduce(
      (calibration, { count, estimate }) =>
        nextCalibration(calibration, { reportedTokens: count, estimatedTokens: estimate(rule) }),
      1,
    );

const groupsOf = (rows: readonly CountedText[], key: 'recording' | 'deployment') =>
  Map.groupBy(rows, (row) => row[key]);

/**
 * What the meter's factor would be when a row comes: after the prompts of its recording before it; a row
 * that stands alone in its recording comes after all other prompts to the same deployment.
 */
function calibrations(rows: readonly CountedText[], rule: TokenRule): Map<CountedText, number> {
  const result = new Map<CountedText, number>();
  const deployments = groupsOf(rows, 'deployment');
  for (const recording of groupsOf(rows, 'recording').values())
    for (const [index, row] of recording.entries()) {
      const others = (deployments.get(row.deployment) ?? []).filter((other) => other !== row);
      const before = recording.length > 1 ? recording.slice(0, index) : others;
      result.set(row, afterPrompts(before, rule));
    }
  return result;
}

function kindFigures(
  rows: readonly CountedText[],
  rule: TokenRule,
  factors: ReadonlyMap<CountedText, number>,
): KindFigures {
  const heavy = rows.filter(({ count }) => count >= CALIBRATED_FROM_TOKENS);
  return {
    all: accuracy(rows, rule),
    long: accuracy(
      rows.filter(({ count }) => count >= LONG_FROM_TOKENS),
      rule,
    ),
    calibrated: {
      n: heavy.length,
      within2: share(heavy, (row) => {
        const ratio = ((factors.get(row) ?? 1) * row.estimate(rule)) / row.count;
        return ratio >= 0.5 && ratio <= 2;
      }),
    },
  };
}

type Part = 'dev' | 'held-out';
interface FiguresRow extends KindFigures {
  part: Part;
  rule: TokenRule;
  kind: Kind;
}

const rules: readonly TokenRule[] = ['character-class', 'gemini-cli'];
const parts: readonly Part[] = ['dev', 'held-out'];

/** Accuracy for each part, rule and kind; nothing is summed over kinds, which differ in what is counted. */
export function tokenFigures(
  rows: readonly CountedText[],
  heldOut: readonly string[],
): FiguresRow[] {
  const partOf = ({ source }: CountedText): Part => (heldOut.includes(source) ? 'held-out' : 'dev');
  return parts.flatMap((part) => {
    const own = rows.filter((row) => partOf(row) === part);
    const kinds = [...new Set(own.map(({ kind }) => kind))].toSorted();
    return rules.flatMap((rule) => {
      const factors = calibrations(own, rule);
      return kinds.map((kind) => ({
        part,
        rule,
        kind,
        ...kindFigures(
          own.filter((row) => row.kind === kind),
          rule,
          factors,
        ),
      }));
    });
  });
}

const percent = (value: number): string => `${(100 * value).toFixed(1)} %`;
const signed = (value: number): string => `${value < 0 ? '−' : '+'}${percent(Math.abs(value))}`;

function line({ kind, all, long, calibrated }: FiguresRow): string {
  const input = ({ n, within20, meanError, tooLow }: Accuracy) =>
    n === 0
      ? 'none'
      : `n ${n}, within 20 % ${percent(within20)}, mean error ${signed(meanError)}, more than 10 % too low ${percent(tooLow)}`;
  return [
    `  ${kind}`,
    `    from 20 tokens: ${input(long)}`,
    `    all:            ${input(all)}`,
    ...(calibrated.n > 0
      ? [
          `    calibrated, from 50 tokens: n ${calibrated.n}, within 2 × ${percent(calibrated.within2)}`,
        ]
      : []),
  ].join('\n');
}

/** The figures as text for people. */
function tokenText(figures: readonly FiguresRow[]): string {
  return parts
    .flatMap((part) =>
      rules.map((rule) => {
        const lines = figures.filter((row) => row.part === part && row.rule === rule).map(line);
        return [`${part}, ${rule}`, ...(lines.length > 0 ? lines : ['  no rows'])].join('\n');
      }),
    )
    .join('\n\n');
}

/** The estimate of tokens beside counts that servers reported. */
export const scoreTokens: Scorer = ({ heldOut }, files) => {
  const read = files.map((file) => parseGiven(file, parseTokenTruth));
  const rows = read.flatMap((each) => each.rows);
  const unreadable = read.reduce((sum, each) => sum + each.unreadable, 0);
  if (rows.length === 0) throw new ArgumentError('--data holds no counts');
  const figures = tokenFigures(rows, heldOut);
  const text = `${tokenText(figures)}\n\n${rows.length} rows; ${unreadable} could not be read`;
  return Promise.resolve({ text, figures, isGood: true });
};
