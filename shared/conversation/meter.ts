import { memoryTokens, type MemoryTexts } from '../memory/render-memory.ts';
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
  /** As the prefix shows it; absent: as it was when the last turn finished. */
  memory?: MemoryTexts | undefined;
  /** The terminal turns of the tail. */
  turns: readonly Turn[];
}

const turnTokens = (turns: readonly Turn[], covered?: CoveredThrough) =>
  turns
    .filter(({ inContext }) => inContext)
    .reduce((sum, turn) => sum + shownTokens(turn, covered), 0);

const ownMemoryTokens = ({ head, memory }: MeterSource): number =>
  memory ? memoryTokens(memory) : (head.context.memoryTokens ?? 0);

/** Of pins and memory. */
const standingTokens = (source: MeterSource): number =>
  pinnedTokens(source.head.pins, source.history, ownMemoryTokens(source));

/** Uncalibrated estimate of memory, pins, snapshot and tail, the latter from the counts that were stored with them. */
export const estimatedContentTokens = (source: MeterSource) => {
  const { history, turns } = source;
  return (
    standingTokens(source) +
    (history?.snapshotTokens ?? 0) +
    Math.max(0, turnTokens(turns, history?.coveredThrough) - (history?.maskedTokensSaved ?? 0))
  );
};

/**
 * Tokens of the present context. The model's own report while it is about this generation, plus an
 * estimate for what came after it and for pins and notes that came or went; after a swap everything from stored counts.
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
  const morePinTokens = standingTokens(source) - (context.pinTokens ?? 0);
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
  /** What the call said beside the message, and no later one says again by itself. */
  saidTokens?: number;
  answerTokens: number;
  usage: TurnUsage | undefined;
}): ContextMeter {
  const { context, generation } = turn.before.head;
  const { saidTokens = 0 } = turn;
  const promptEstimate =
    turn.overheadTokens + estimatedContentTokens(turn.before) + turn.userTokens;
  const pinTokens = standingTokens(turn.before);
  const memory = ownMemoryTokens(turn.before);
  const base = {
    generation,
    seq: turn.seq,
    ...(pinTokens > 0 && { pinTokens }),
    ...(memory > 0 && { memoryTokens: memory }),
  };
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
    estimatedTokens: promptEstimate + saidTokens,
  });
  return {
    ...base,
    tokens: Math.max(
      0,
      turn.usage.promptTokens + turn.usage.outputTokens - Math.ceil(calibration * saidTokens),
    ),
    overheadTokens: Math.ceil(calibration * turn.overheadTokens),
    calibration,
    source: 'reported',
  };
}
