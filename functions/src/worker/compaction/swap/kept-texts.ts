import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { contentText, type Content } from '#shared/conversation/documents/content.ts';
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

/** The tail, as the model goes on reading it. */
export const keptContents = ({ tail }: FoldPlan): Content[] =>
  tail.filter(({ inContext }) => inContext).flatMap(({ user, contents }) => [user, ...contents]);

/** What stays in the context beside the snapshot, as texts: the pins and the words of the tail. */
export const keptTexts = (run: ClaimedRun, plan: FoldPlan): string[] => [
  ...pinsAfterFold(run, plan).pins.map(({ text }) => text),
  ...keptContents(plan).map(contentText),
];
