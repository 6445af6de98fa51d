import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { indexFacts, isHeld } from '#shared/compaction/facts/index/fact-index.ts';
import { snapshotTexts, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Standing } from '../run/eval-generations.ts';
import { factsHeld } from '../run/eval-measure.ts';

/** How many facts of the first snapshot a later generation still says. */
export interface FadingReading {
  facts: number;
  /** In snapshot or tail. */
  held: number;
  /** There, or in the archive layer. */
  reachable: number;
}

/** What stands after a generation. */
type StandingNow = Pick<Standing, 'statements' | 'kept'> & {
  history: { snapshot: Snapshot | null };
};

/** Reads facts of the first snapshot against what stands now. */
export function readingOf(facts: readonly Fact[], now: StandingNow): FadingReading {
  const held = new Set(factsHeld(facts, now));
  const { snapshot } = now.history;
  const archive = indexFacts(snapshot ? snapshotTexts(snapshot) : []);
  return {
    facts: facts.length,
    held: held.size,
    reachable: facts.filter((fact) => held.has(fact) || isHeld(fact, archive)).length,
  };
}

/** All together; undefined where there is none. */
export const sumReadings = (
  readings: readonly (FadingReading | undefined)[],
): FadingReading | undefined =>
  readings.reduce(
    (sum, one) =>
      sum && one
        ? {
            facts: sum.facts + one.facts,
            held: sum.held + one.held,
            reachable: sum.reachable + one.reachable,
          }
        : (sum ?? one),
    undefined,
  );
