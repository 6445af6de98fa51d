import type { ContextMeter, Head } from './head.ts';
import type { History } from './history.ts';
import type { Turn, TurnUsage } from './turn.ts';

/** Weight of a new report in the moving average, and its bounds: a wild report moves it little. */
export const CALIBRATION_ALPHA = 0.2;
export const CALIBRATION_MIN = 0.5;
export const CALIBRATION_MAX = 2;

export interface MeterSource {
  head: Pick<Head, 'context' | 'generation'>;
  history: History | undefined;
  /** The terminal turns of the tail. */
  turns: readonly Turn[];
}

const turnTokens = (turns: readonly Turn[]) =>
  turns
    .filter(({ inContext }) => inContext)
    .reduce((sum, { tokens }) => sum + tokens.user + tokens.answer, 0);

/** Uncalibrated estimate of snapshot and tail, from the counts that were stored with them. */
export const estimatedContentTokens = ({ history, turns }: MeterSource) =>
  (history?.snapshotTokens ?? 0) +
  Math.max(0, turnTokens(turns) - (history?.maskedTokensSaved ?? 0));

/**
 * Tokens of the present context. The model's own report while it is about this generation, plus an
 * estimate for what came after it; after a swap everything from stored counts.
 */
export function contextTokens(source: MeterSource): {
  tokens: number;
  source: ContextMeter['source'];
} {
  const { context, generation } = source.head;
  if (context.generation !== generation || context.source === 'estimated')
    return {
      tokens: Math.ceil(
        context.overheadTokens + context.calibration * estimatedContentTokens(source),
      ),
      source: 'estimated',
    };
  const later = source.turns.filter(({ seq }) => seq > context.seq);
  return {
    tokens: Math.ceil(context.tokens + context.calibration * turnTokens(later)),
    source: context.source,
  };
}

export function nextCalibration(
  calibration: number,
  observed: { reportedTokens: number; estimatedTokens: number },
): number {
  if (observed.estimatedTokens <= 0 || observed.reportedTokens <= 0) return calibration;
  const ratio = observed.reportedTokens / observed.estimatedTokens;
  const bounded = Math.min(CALIBRATION_MAX, Math.max(CALIBRATION_MIN, ratio));
  return (1 - CALIBRATION_ALPHA) * calibration + CALIBRATION_ALPHA * bounded;
}

/** The meter after a finished turn: as reported where the model reported, else estimated. */
export function meterAfterTurn(turn: {
  before: MeterSource;
  seq: number;
  /** Uncalibrated estimates. */
  overheadTokens: number;
  userTokens: number;
  answerTokens: number;
  usage: TurnUsage | undefined;
}): ContextMeter {
  const { context, generation } = turn.before.head;
  const promptEstimate =
    turn.overheadTokens + estimatedContentTokens(turn.before) + turn.userTokens;
  const base = { generation, seq: turn.seq };
  if (turn.usage === undefined || turn.usage.promptTokens <= 0)
    return {
      ...base,
      tokens: Math.ceil(context.calibration * (promptEstimate + turn.answerTokens)),
      overheadTokens: Math.ceil(context.calibration * turn.overheadTokens),
      calibration: context.calibration,
      source: 'estimated',
    };
  const calibration = nextCalibration(context.calibration, {
    reportedTokens: turn.usage.promptTokens,
    estimatedTokens: promptEstimate,
  });
  return {
    ...base,
    tokens: turn.usage.promptTokens + turn.usage.outputTokens,
    overheadTokens: Math.ceil(calibration * turn.overheadTokens),
    calibration,
    source: 'reported',
  };
}
