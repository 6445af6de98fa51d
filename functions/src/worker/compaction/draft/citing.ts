import type { Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { FoldPlan } from '#shared/compaction/plan.ts';
import { withCitations } from '#shared/grounding/cite-statements.ts';
import type { Run } from '../run.ts';

/**
 * A snapshot with those sources of the folded answers that bear it out. A turn that is folded in parts gives the sources
 * of the whole turn.
 */
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
