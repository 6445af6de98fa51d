import type { Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { withCitations } from '#shared/grounding/cite-statements.ts';
import type { Run } from '../run.ts';

/** A snapshot with the sources of the folded answers that bear it out; of a turn that is folded in parts, of all of it. */
export function citing(
  { reading: { turns, history } }: Pick<Run, 'reading'>,
  { folded }: Pick<FoldPlan, 'folded'>,
  snapshot: Snapshot,
): Snapshot {
  const whole = new Map(turns.map((turn) => [turn.seq, turn]));
  return withCitations(snapshot, {
    previous: history?.snapshot ?? undefined,
    turns: folded.map((turn) => whole.get(turn.seq) ?? turn),
  });
}
