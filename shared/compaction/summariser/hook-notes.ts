import { snapshotConstants } from '#shared/compaction/snapshot-constants.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { HOOK_NOTE_MAX_CHARACTERS } from './hooks.ts';

/** What a hook wants the summariser to know. */
export interface HookNote {
  hook: string;
  text: string;
}

interface ChosenNotes {
  /** In the order of the hooks. */
  notes: string[];
  leftOut: { hook: string; reason: 'UNUSABLE' | 'NO_ROOM' }[];
}

/** Tokens that the notes of all hooks may take of a summariser's window. */
export const noteTokens = (windowTokens: number): number =>
  Math.min(
    snapshotConstants.hookNoteTokens.value,
    Math.floor(snapshotConstants.hookNoteWindowFraction.value * windowTokens),
  );

const isUsable = (text: string): boolean =>
  text.length <= HOOK_NOTE_MAX_CHARACTERS && text.isWellFormed();

/** The notes that the summariser gets: usable ones, each that still fits, in order. Blank ones are none. */
export function chooseNotes(
  given: readonly HookNote[],
  { windowTokens, counting }: { windowTokens: number; counting: TokenCounting },
): ChosenNotes {
  const chosen: ChosenNotes = { notes: [], leftOut: [] };
  let room = noteTokens(windowTokens);
  for (const { hook, text } of given.filter((note) => note.text.trim() !== '')) {
    const tokens = isUsable(text) ? estimateTextTokens(text, counting) : Infinity;
    if (tokens <= room) {
      room -= tokens;
      chosen.notes.push(text);
    } else chosen.leftOut.push({ hook, reason: isUsable(text) ? 'NO_ROOM' : 'UNUSABLE' });
  }
  return chosen;
}
