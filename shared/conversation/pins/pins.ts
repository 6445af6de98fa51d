import type { Pin } from '../documents/conversation.ts';
import { calibratedPinTokens, PINS_MAX, type PinBudget } from './pin-budget.ts';

/** The pins with one more, which takes the place of the one that has its id. */
export const withPin = (pins: readonly Pin[], pin: Pin): Pin[] =>
  pins.some(({ id }) => id === pin.id)
    ? pins.map((each) => (each.id === pin.id ? pin : each))
    : [...pins, pin];

/** The pins without those that came from one of `seqs`; a pin that names no turn stays. */
export const withoutPinsFrom = (pins: readonly Pin[], isGone: (seq: number) => boolean): Pin[] =>
  pins.filter(({ seq }) => seq === undefined || !isGone(seq));

/** Ids of deleted pins that are kept: as many as a conversation may have pins. */
const DELETED_MAX = PINS_MAX;

/** The ids of deleted pins with one more. */
export const withDeletedPin = (deletedPins: readonly string[] | undefined, id: string): string[] =>
  [...(deletedPins ?? []), id].slice(-DELETED_MAX);

export type PinDecision =
  | { kind: 'put'; pins: Pin[]; isNew: boolean }
  /** The same pin stands already. */
  | { kind: 'unchanged'; pin: Pin }
  | { kind: 'tooMany' }
  /** `neededTokens` of this pin; `remainingTokens` are left beside the other pins. */
  | { kind: 'overBudget'; neededTokens: number; remainingTokens: number };

/**
 * Whether a pin may be put. One that replaces a longer one always may: the estimate moves with what the
 * model reports, so pins that fitted once may be over the budget now.
 */
export function decidePin(pins: readonly Pin[], pin: Pin, budget: PinBudget): PinDecision {
  const before = pins.find(({ id }) => id === pin.id);
  if (before?.text === pin.text && before.source === pin.source)
    return { kind: 'unchanged', pin: before };
  const next = withPin(pins, pin);
  if (next.length > PINS_MAX && !before) return { kind: 'tooMany' };
  const tokens = calibratedPinTokens(next, budget);
  if (tokens > budget.budgetTokens && tokens > calibratedPinTokens(pins, budget)) {
    const others = pins.filter(({ id }) => id !== pin.id);
    const otherTokens = calibratedPinTokens(others, budget);
    return {
      kind: 'overBudget',
      neededTokens: tokens - otherTokens,
      remainingTokens: Math.max(0, budget.budgetTokens - otherTokens),
    };
  }
  return { kind: 'put', pins: next, isNew: !before };
}
