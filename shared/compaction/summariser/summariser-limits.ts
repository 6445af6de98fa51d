import { snapshotConstants } from '#shared/compaction/snapshot-constants.ts';
import { noteTokens } from './hook-notes.ts';

/** System instruction, the request, and the critique or the list of what is missing. */
const INSTRUCTION_TOKENS = 2_000;

/**
 * Bound of one answer of a summariser: its thoughts, which models bill against the same bound, the
 * scratchpad and the snapshot.
 */
export const summaryOutputTokens = (windowTokens: number): number =>
  Math.min(
    snapshotConstants.summaryOutputTokens.value,
    Math.floor(snapshotConstants.summaryOutputWindowFraction.value * windowTokens),
  );

/** What a summariser with this window may read when everything fits, and when it does not. */
export function summariserRooms(windowTokens: number): { room: number; partialRoom: number } {
  // The second pass reads the first answer and writes one of its own. Where a small window cannot hold
  // both, that call is refused and the first summary stands.
  const requestTokens =
    2 * summaryOutputTokens(windowTokens) + INSTRUCTION_TOKENS + noteTokens(windowTokens);
  const partialRoom = snapshotConstants.summariserPartialFraction.value * windowTokens;
  return { room: Math.max(windowTokens - requestTokens, partialRoom), partialRoom };
}
