import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { contentText, type Content } from '#shared/conversation/documents/content.ts';
import { pinsAfterFold } from './pins-after-fold.ts';
import type { ClaimedRun } from '../run.ts';

/** The tail, as the model goes on reading it. */
export const keptContents = ({ tail }: FoldPlan): Content[] =>
  tail.filter(({ inContext }) => inContext).flatMap(({ user, contents }) => [user, ...contents]);

/** What stays in the context beside the snapshot, as texts: the pins and the words of the tail. */
export const keptTexts = (run: ClaimedRun, plan: FoldPlan): string[] => [
  ...pinsAfterFold(run, plan).pins.map(({ text }) => text),
  ...keptContents(plan).map(contentText),
];
