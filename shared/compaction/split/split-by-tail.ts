import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import { policyConstants } from '../policy/policy-constants.ts';
import { tailValues, type CompactionPolicy } from '../policy/policy.ts';
import type { Block, SizedTurn, SizedTurns } from './split-sizes.ts';

/** What the newest turns that stay may take, in the tokens that turns are measured in. */
export interface TailLimits {
  /** What all of them take. */
  targetTokens: number;
  /** What two of them may take. */
  capTokens: number;
  /** From where on a single one is folded inside. */
  turnCapTokens: number;
  /** What is kept at least. */
  minimumTokens: number;
}

/**
 * The limits of one conversation. A conversation that is smaller than the threshold, because a person asks,
 * keeps the share of its own size.
 */
export function tailLimits(
  policy: Pick<CompactionPolicy, 'tailTokens' | 'tailCapTokens'>,
  conversation: { tokens: number; calibration: number },
): TailLimits {
  const mostTokens = Math.max(policyConstants.tailTokens.value, policy.tailTokens);
  const own = tailValues(conversation.tokens, mostTokens);
  const targetTokens = Math.min(policy.tailTokens / conversation.calibration, own.tailTokens);
  const turnCapTokens = policy.tailCapTokens / conversation.calibration;
  return {
    targetTokens,
    capTokens: Math.min(turnCapTokens, own.tailCapTokens),
    turnCapTokens,
    minimumTokens: policyConstants.minimumTailFraction.value * targetTokens,
  };
}

/** So large that `tailLimits` are those of every larger conversation. */
export const largestScaleTokens = (
  policy: Pick<CompactionPolicy, 'tailTokens' | 'tailCapTokens'>,
  calibration: number,
): number => {
  const mostTokens = Math.max(policyConstants.tailTokens.value, policy.tailTokens);
  return Math.max(
    (mostTokens + 1) / policyConstants.tailFraction.value,
    (policy.tailCapTokens / calibration + 1) / policyConstants.tailCapFraction.value,
  );
};

/** Moves the beginning of a tail off turns that no tail begins with. */
export function validStart(turns: SizedTurns, start: number): number {
  let index = start;
  while (index < turns.length - 1 && turns.at(index)?.isDropped === true) index += 1;
  while (index > 0 && turns.at(index)?.isResponse === true) index -= 1;
  return index;
}

/**
 * Index of the first turn that stays: the newest always; one more within the cap; others within the target.
 * A turn marked `drop` ends the tail as soon as the minimum is kept. 0 for an empty list.
 */
export function tailStart(turns: SizedTurns, limits: TailLimits): number {
  const newest = turns.length - 1;
  let start = Math.max(0, newest);
  let tokens = turns.at(newest)?.tokens ?? 0;
  for (let index = newest - 1; index >= 0; index--) {
    const turn = turns.at(index);
    if (turn === undefined || (turn.isDropped && tokens >= limits.minimumTokens)) break;
    const room = index === newest - 1 ? limits.capTokens : limits.targetTokens;
    if (tokens + turn.tokens > room) break;
    tokens += turn.tokens;
    start = index;
  }
  return validStart(turns, start);
}

/** Tokens of the blocks behind each block, in their order. */
function tokensBehind(blocks: readonly Block[]): number[] {
  const behind: number[] = [];
  let tokens = 0;
  for (const block of blocks.toReversed()) {
    behind.push(tokens);
    tokens += block.tokens;
  }
  return behind.toReversed();
}

/**
 * How far a turn that is too large alone is folded inside: its user content stays, and of the answer what
 * the target leaves room for, at least one block and, where the cap allows it, the minimum. `contentIndex` as in
 * `coveredThrough`; undefined when there is no boundary inside.
 */
export function splitInside(turn: SizedTurn, limits: TailLimits): CoveredThrough | undefined {
  const inner = turn.blocks.slice(0, -1);
  if (inner.length === 0) return undefined;
  const behind = tokensBehind(turn.blocks);
  const room = Math.max(limits.minimumTokens, limits.targetTokens - turn.userTokens);
  const fitting = inner.findIndex((_, index) => (behind[index] ?? 0) <= room);
  let chosen = fitting === -1 ? inner.length - 1 : fitting;
  const before = behind[chosen - 1] ?? Infinity;
  if ((behind[chosen] ?? 0) < limits.minimumTokens && before <= limits.capTokens) chosen -= 1;
  const block = inner[chosen];
  return block && { seq: turn.seq, contentIndex: block.end };
}

/** Whether any turn before the one at `start` holds something. */
function holdsTokensBefore(turns: SizedTurns, start: number): boolean {
  for (let index = 0; index < start; index++) if ((turns.at(index)?.tokens ?? 0) > 0) return true;
  return false;
}

/** The fold point before the turn at `start`, or undefined when nothing with any text lies before it. */
export function pointBefore(turns: SizedTurns, start: number): CoveredThrough | undefined {
  const first = turns.at(start);
  // An erased turn at the very front is no reason to call the model.
  return first === undefined || !holdsTokensBefore(turns, start)
    ? undefined
    : { seq: first.seq - 1, contentIndex: 0 };
}

/**
 * Where a tail that begins with turn `start` lets the fold end: before it, or inside the newest turn when
 * that alone is more than the cap.
 */
export function findFoldPoint(
  turns: SizedTurns,
  start: number,
  limits: TailLimits,
): CoveredThrough | undefined {
  const newest = turns.at(-1);
  const isAlone = start === turns.length - 1;
  const inside =
    isAlone && newest !== undefined && newest.tokens > limits.turnCapTokens
      ? splitInside(newest, limits)
      : undefined;
  return inside ?? pointBefore(turns, start);
}
