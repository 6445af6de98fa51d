import type { Trigger } from '#shared/conversation/documents/conversation.ts';
import type { FoldedTurnsAccess } from '#shared/hooks/folded-turns.ts';
import type { ReadTurn } from '#shared/hooks/read-turn.ts';
import type { Hook } from '#shared/hooks/webhook.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { snapshotConstants } from './constants.ts';

/** What a webhook learns: who asked, how large the context is, which turns go. Never any text of them. */
export interface CompactionHookEvent {
  conversationId: string;
  requestId: string;
  trigger: Trigger;
  generation: number;
  /** First and last turn of the range. */
  from: number;
  upTo: number;
  turnsFolded: number;
  /** Estimated tokens of the context before. */
  beforeTokens: number;
}

/** What a PreCompact hook is asked with. */
export interface PreCompactEvent extends CompactionHookEvent {
  /** To read the turns that go with, for a backup; absent where none go. */
  foldedTurns?: FoldedTurnsAccess;
}

/** What a PreCompact hook may answer. */
export interface PreCompactAnswer {
  /** Ends the compaction as NOOP, VETOED; what the hook pins stays pinned. */
  veto?: boolean;
  /**
   * Texts to keep word for word from now on, under ids of the hook's choice (1 to 64 letters, digits, - and
   * _). The newest text under an id wins, the owner's own included; where the budget of pins is full the
   * oldest pins of hooks go, and what does not fit beside the owner's is left out with a WARNING.
   */
  pins?: readonly { id: string; text: string }[];
  /**
   * What the summariser is to know beside the turns, as data: at most `HOOK_NOTE_MAX_CHARACTERS`. It bears out what
   * the summary says, makes no constraint, and is not kept. One that is too long, or has no room behind those of
   * earlier hooks, is left out with a WARNING.
   */
  note?: string;
}

/** What a hook is asked about. Webhooks are told `event` alone. */
export interface Asked<Event> {
  event: Event;
  /** Whose conversation it is. */
  uid: string;
}

interface AskedBefore extends Asked<PreCompactEvent> {
  /** Those that are folded, oldest first; none where none goes. */
  turns(): ReadTurn[];
}

/** Runs after the decision to compact, before the model is called. */
export type PreCompactHook = Hook<AskedBefore, PreCompactAnswer | undefined>;

export interface CompactionHookResult extends CompactionHookEvent {
  state: string;
  afterTokens: number;
  reason?: string;
}

/** Runs after the outcome of a compaction that a PreCompact hook could have seen; twice where a worker dies behind it. */
type PostCompactHook = Hook<Asked<CompactionHookResult>, undefined>;

/** Hooks in the order in which they run. */
export interface CompactionHooks {
  preCompact: readonly PreCompactHook[];
  postCompact: readonly PostCompactHook[];
}

export const noHooks: CompactionHooks = { preCompact: [], postCompact: [] };

/** How long one hook may take. */
export const HOOK_TIMEOUT_MS = 10_000;

// What hooks tell the summariser

/** UTF-16 units of the note of one hook. */
export const HOOK_NOTE_MAX_CHARACTERS = 4_000;

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
    snapshotConstants.hookNoteTokens,
    Math.floor(snapshotConstants.hookNoteWindowFraction * windowTokens),
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
