import type { ContextMeter, CoveredThrough, Head } from './head.ts';
import type { History } from './history.ts';
import { pinnedTokens } from './pinned-tokens.ts';
import { shownTokens } from './shown-tokens.ts';
import type { Turn, TurnUsage } from './turn.ts';

/** Weight of a new report in the moving average, and its bounds: a wild report moves it little. */
export const CALIBRATION_ALPHA = 0.2;
export const CALIBRATION_MIN = 0.5;
export const CALIBRATION_MAX = 2;

export interface MeterSource {
  head: Pick<Head, 'context' | 'generation' | 'pins'>;
  history: History | undefined;
  /** The terminal turns of the tail. */
  turns: readonly Turn[];
}

const turnTokens = (turns: readonly Turn[], covered?: CoveredThrough) =>
  turns
    .filter(({ inContext }) => inContext)
    .reduce((sum, turn) => sum + shownTokens(turn, covered), 0);

/** Uncalibrated estimate of pins, snapshot and tail, the latter from the counts that were stored with them. */
export const estimatedContentTokens = ({ head, history, turns }: MeterSource) =>
  pinnedTokens(head.pins, history) +
  (history?.snapshotTokens ?? 0) +
  Math.max(0, turnTokens(turns, history?.coveredThrough) - (history?.maskedTokensSaved ?? 0));

/**
 * Tokens of the present context. The model's own report while it is about this generation, plus an
 * estimate for what came after it and for pins that came or went; after a swap everything from stored counts.
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
  const morePinTokens = pinnedTokens(source.head.pins, source.history) - (context.pinTokens ?? 0);
  const moreTokens = context.calibration * (turnTokens(later) + morePinTokens);
  return {
    tokens: Math.max(0, Math.ceil(context.tokens + moreTokens)),
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
  const { context, generation, pins } = turn.before.head;
  const promptEstimate =
    turn.overheadTokens + estimatedContentTokens(turn.before) + turn.userTokens;
  const pinTokens = pinnedTokens(pins, turn.before.history);
  const base = { generation, seq: turn.seq, ...(pinTokens > 0 && { pinTokens }) };
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
