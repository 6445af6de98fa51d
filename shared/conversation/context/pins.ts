import { contentText } from '#shared/models/content.ts';
import type { Pin } from '../documents/conversation.ts';
import type { Turn } from '../documents/turn.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';

/** Text of all pins as the context shows it, the oldest first; '' without pins. */
export function pinText(pins: readonly Pick<Pin, 'text'>[]): string {
  if (pins.length === 0) return '';
  return `Facts that stay word for word:\n${pins.map(({ text }) => `- ${text}\n`).join('')}`;
}

/** Uncalibrated tokens of all pins together in the context. */
export const pinTokens = (pins: readonly Pick<Pin, 'text'>[]): number =>
  estimateTextTokens(pinText(pins), 'character-class');

/** Pins of one conversation; more than that is a memory, and belongs there. */
export const PINS_MAX = 50;

/**
 * Tokens of all pins together: of a target of 0.4 × 24,000 tokens they leave the rest to snapshot and tail.
 * They are sent with every message.
 */
const PIN_BUDGET_TOKENS = 1_000;

/** Where the threshold is small, pins have at most this share of it, so that there is room to compact into. */
const PIN_BUDGET_FRACTION = 1 / 8;

/** What all pins of a conversation together may take. */
interface PinBudget {
  budgetTokens: number;
  /** Factor from our estimate to what the model reports. */
  calibration: number;
}

/** The budget of a conversation's pins; without a threshold the window limit stands for it. */
export const pinBudget = (
  thresholds: { softThresholdTokens: number | null; hardThresholdTokens: number },
  { calibration }: { calibration: number },
): PinBudget => ({
  budgetTokens: Math.min(
    PIN_BUDGET_TOKENS,
    Math.floor(
      PIN_BUDGET_FRACTION * (thresholds.softThresholdTokens ?? thresholds.hardThresholdTokens),
    ),
  ),
  calibration,
});

/** Calibrated tokens of all pins together. */
export const calibratedPinTokens = (
  pins: readonly Pick<Pin, 'text'>[],
  { calibration }: Pick<PinBudget, 'calibration'>,
): number => Math.ceil(calibration * pinTokens(pins));

const pinsAreWithin = (pins: readonly Pin[], budget: PinBudget): boolean =>
  pins.length <= PINS_MAX && calibratedPinTokens(pins, budget) <= budget.budgetTokens;

/** The pins with one more, which takes the place of the one that has its id. */
const withPin = (pins: readonly Pin[], pin: Pin): Pin[] =>
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

/** The pins with one of a hook, without as many older hook pins as it takes; undefined: it does not fit. */
function roomForHookPin(pins: readonly Pin[], pin: Pin, budget: PinBudget): Pin[] | undefined {
  let next = withPin(pins, pin);
  while (!pinsAreWithin(next, budget)) {
    const oldest = next.find(({ id, source }) => source === 'hook' && id !== pin.id);
    if (!oldest) return undefined;
    next = next.filter((each) => each !== oldest);
  }
  return next;
}

/**
 * The pins with those that a hook returned. The newest wins: one takes the place of the pin that has its id,
 * and where the budget is full the oldest pins of hooks go. Pins of the owner never do: what does not fit
 * beside them is left out; `leftOut`: ids of that.
 */
export function withHookPins(
  pins: readonly Pin[],
  returned: readonly Pick<Pin, 'id' | 'text'>[],
  budget: PinBudget,
): { pins: readonly Pin[]; leftOut: readonly string[] } {
  let next = pins;
  const leftOut: string[] = [];
  for (const { id, text } of returned) {
    const isSame = next.some((pin) => pin.id === id && pin.text === text);
    const room = isSame ? next : roomForHookPin(next, { id, text, source: 'hook' }, budget);
    if (room) next = room;
    else leftOut.push(id);
  }
  return { pins: next, leftOut };
}

/** Id of the pin that keeps a turn's user text. */
const keptPinId = (seq: number) => `keep-${seq}`;

export interface KeptPins {
  /** All pins of the next context: those before, then the kept ones in the order they were said. */
  pins: readonly Pin[];
  /** Of `pins` those that are new. */
  added: readonly Pin[];
  /** Turns that were to be kept and did not fit. */
  leftOut: readonly number[];
}

/**
 * The pins after a fold: the user text of every folded turn with retention `keep` becomes one, the newest
 * first as far as the budget goes. A text that does not fit never pushes another pin out. A turn whose pin
 * stands already is not asked again: the owner may have changed the pin. A turn without text has nothing
 * to keep.
 */
export function keptPins(
  pins: readonly Pin[],
  folded: readonly Pick<Turn, 'seq' | 'user' | 'inContext' | 'retention'>[],
  budget: PinBudget,
): KeptPins {
  const wanted = folded
    .filter(({ retention, inContext }) => retention === 'keep' && inContext)
    .map(({ seq, user }): Pin => {
      return { id: keptPinId(seq), text: contentText(user), source: 'api', seq };
    })
    .filter(({ id, text }) => text.trim() !== '' && !pins.some((pin) => pin.id === id));
  const chosen = new Set<Pin>();
  for (const pin of wanted.toReversed())
    if (pinsAreWithin([...pins, ...chosen, pin], budget)) chosen.add(pin);
  const added = wanted.filter((pin) => chosen.has(pin));
  return {
    pins: added.length === 0 ? pins : [...pins, ...added],
    added,
    leftOut: wanted.filter((pin) => !chosen.has(pin)).map(({ seq = 0 }) => seq),
  };
}
