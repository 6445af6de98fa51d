import { policyConstants } from './policy-constants.ts';

/** Digits of a share that are kept: a thousandth of a threshold is 24 tokens. */
const SHARE_DIGITS = 3;

/** A share within what a threshold may move, in either direction. */
export function boundedShift(shift: number): number {
  const most = policyConstants.learnedShiftMaximum.value;
  return Math.min(most, Math.max(-most, shift));
}

/**
 * By which share of itself the threshold of a conversation moves, after its user has compacted it by hand at `tokens`:
 * halfway from the share `known` so far to where that was. 0 leaves the threshold as it is.
 */
export function learnShift(
  known: number | undefined,
  /** Both without overhead; the threshold as it is without a shift. */
  { tokens, thresholdTokens }: { tokens: number; thresholdTokens: number },
): number {
  const before = boundedShift(known ?? 0);
  if (tokens <= 0) return before;
  const wanted = boundedShift(tokens / thresholdTokens - 1);
  const step = policyConstants.learnedShiftStep.value * (wanted - before);
  return Number((before + step).toFixed(SHARE_DIGITS));
}
