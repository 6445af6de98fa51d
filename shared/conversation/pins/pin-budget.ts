import type { CompactionPolicy } from '#shared/compaction/policy.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import type { Pin } from '../documents/conversation.ts';

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
export interface PinBudget {
  budgetTokens: number;
  /** Factor from our estimate to what the model reports. */
  calibration: number;
}

/** The budget of a conversation's pins; without a threshold the window limit stands for it. */
export const pinBudget = (
  policy: Pick<CompactionPolicy, 'softThresholdTokens' | 'hardThresholdTokens'>,
  { calibration }: { calibration: number },
): PinBudget => ({
  budgetTokens: Math.min(
    PIN_BUDGET_TOKENS,
    Math.floor(PIN_BUDGET_FRACTION * (policy.softThresholdTokens ?? policy.hardThresholdTokens)),
  ),
  calibration,
});

/** Calibrated tokens of all pins together. */
export const calibratedPinTokens = (
  pins: readonly Pick<Pin, 'text'>[],
  { calibration }: Pick<PinBudget, 'calibration'>,
): number => Math.ceil(calibration * pinTokens(pins));

export const pinsAreWithin = (pins: readonly Pin[], budget: PinBudget): boolean =>
  pins.length <= PINS_MAX && calibratedPinTokens(pins, budget) <= budget.budgetTokens;
