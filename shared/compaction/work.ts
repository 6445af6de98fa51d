import { contentText, type Content } from '../models/content.ts';
import { keptPins, type KeptPins, pinBudget } from '#shared/conversation/context/pins.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { Profile, Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { SizedContext } from './context-tokens.ts';
import type { FoldPlan } from './plan.ts';
import type { Summariser } from './summariser.ts';

/*
 * One compaction without whoever keeps the conversation: the worker and `compact` of the package do the same to it, plan →
 * draft → measure.
 */

/** What is compacted, and how. */
export interface CompactionWork extends SizedContext {
  profile: Profile;
  /** What the present snapshot says and takes; absent: there is none. */
  previous?: { snapshot: Snapshot | null; snapshotTokens: number } | undefined;
  /** Tokens of system instruction and tools, as they were measured. */
  overheadTokens: number;
  /** What a person asked to keep in particular. */
  focus?: string | undefined;
  /** What hooks tell the summariser, as data. */
  notes?: readonly string[] | undefined;
  /** Whether later messages bring back what was folded. */
  isSearched: boolean;
  /** What tools said in the earlier turns that these brought back, a text for each turn. */
  recalledTools?: (folded: FoldPlan['folded']) => Promise<string[]>;
}

/** A snapshot that code has checked. It is not measured yet. */
interface DraftedSnapshot extends Pick<History, 'promptVersion' | 'report'> {
  kind: 'snapshot';
  strategy: Exclude<History['strategy'], 'copy'>;
  snapshot: Snapshot;
  /** As it stands in the context between its boundary lines: one `<state_snapshot>`. */
  body: string;
}

/** What a strategy makes of the folded turns; an answer that cannot be used is a result. */
export type Draft =
  | DraftedSnapshot
  /** Nothing was written. */
  | { kind: 'empty' }
  /** The answer was cut or blocked, cannot be read, or does not stand up to the check. */
  | { kind: 'refused'; reason: string };

/**
 * A way to write the snapshot of what a plan folds: asks the summariser, and checks what it wrote by code. Throws what the
 * summariser throws.
 */
export type SnapshotStrategy = (
  work: CompactionWork,
  plan: FoldPlan,
  summariser: Summariser,
) => Promise<Draft>;

/** The turns that a plan folds, and those that stay. */
export type PlannedTurns = Pick<FoldPlan, 'folded' | 'tail' | 'coveredThrough'>;

/** The pins as a plan's swap leaves them: with the folded messages that are to stay word for word. */
export function pinsAfterFold(
  { context, policy, calibration }: CompactionWork,
  { folded, coveredThrough }: Omit<PlannedTurns, 'tail'>,
): KeptPins {
  // A turn that is folded inside keeps its user content in the context.
  const { seq: last, contentIndex } = coveredThrough;
  const gone = contentIndex > 0 ? folded.filter(({ seq }) => seq !== last) : folded;
  return keptPins(context.pins, gone, pinBudget(policy, { calibration }));
}

/** The tail, as the model goes on reading it. */
const tailContents = ({ tail }: Pick<PlannedTurns, 'tail'>): Content[] =>
  tail.filter(({ inContext }) => inContext).flatMap(({ user, contents }) => [user, ...contents]);

/** What stays in the context beside the snapshot, as texts: the pins and the words of the tail. */
export const keptTexts = (work: CompactionWork, plan: PlannedTurns): string[] => [
  ...pinsAfterFold(work, plan).pins.map(({ text }) => text),
  ...tailContents(plan).map(contentText),
];
