import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { keptPins, type KeptPins } from '#shared/conversation/pins/kept-pins.ts';
import { pinBudget } from '#shared/conversation/pins/pin-budget.ts';
import type { ClaimedRun } from '../run.ts';

/** The pins as a plan's swap leaves them: with the folded messages that are to stay word for word. */
export function pinsAfterFold(
  { reading }: ClaimedRun,
  { folded, upTo, contentIndex }: FoldPlan,
): KeptPins {
  const { pins, context } = reading.head.value;
  // A turn that is folded inside keeps its user content in the context.
  const gone = contentIndex > 0 ? folded.filter(({ seq }) => seq !== upTo) : folded;
  return keptPins(pins, gone, pinBudget(reading.policy, context));
}
