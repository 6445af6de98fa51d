/**
 * Why the prompt of a turn was not served from the cache of its model. `EDIT`: an edit, a regeneration, a deletion or a
 * restore; `ASIDE`: excerpts or notes stood before the last message, which later prompts leave out; `SHORTENED`: tool
 * outputs or turns left the prompt for lack of room; `IDLE`: nobody asked for longer than a cache may live.
 */
export type CacheMiss =
  | 'FIRST_TURN'
  | 'COMPACTION'
  | 'NO_CACHE'
  | 'TOO_SHORT'
  | 'EDIT'
  | 'MODEL'
  | 'INSTRUCTION'
  | 'TOOLS'
  | 'MEMORY'
  | 'PINS'
  | 'SHORTENED'
  | 'ASIDE'
  | 'IDLE'
  | 'UNEXPLAINED';

/** The parts that a prompt begins with, by a short digest each; '' where there is none. */
export interface PromptMarks {
  instruction: string;
  tools: string;
  memory: string;
  pins: string;
}

/** A prompt beside the one before it in its conversation. */
export interface SentPrompt {
  /** What the model says that its cache had. */
  cachedTokens: number;
  /** What the prompt before began with as well, if nothing has changed but the end. */
  sharedTokens: number;
  /** Part of these: the last message before, where later prompts leave out what stood beside it; else 0. */
  asideTokens: number;
  /** The model's cache takes no shorter beginning; undefined: none is known. */
  cacheFromTokens: number | undefined;
  /** What the conversation has become since the prompt before. */
  change: 'none' | 'begun' | 'compacted' | 'edited';
  /** Undefined: not known. */
  modelBefore: string | undefined;
  model: string;
  marksBefore: PromptMarks | undefined;
  marks: PromptMarks;
  /** Something that was sent before was sent shorter. */
  isShortened: boolean;
  /** Since the turn before ended; undefined: not known. */
  idleMs: number | undefined;
}

/** Google names no life of a cache, only "a short amount of time"; other vendors' caches live for five minutes. */
const CACHE_LIFE_MS = 5 * 60_000;

/** Half: what is served comes in blocks, and estimates are none to the token. */
const isServed = (cachedTokens: number, sharedTokens: number): boolean =>
  cachedTokens > 0 && 2 * cachedTokens >= sharedTokens;

/** The first of the parts that is another one than before. */
function changedPart({ marksBefore: before, marks }: SentPrompt): CacheMiss | undefined {
  if (!before) return undefined;
  if (before.instruction !== marks.instruction) return 'INSTRUCTION';
  if (before.tools !== marks.tools) return 'TOOLS';
  if (before.memory !== marks.memory) return 'MEMORY';
  return before.pins === marks.pins ? undefined : 'PINS';
}

/** What stood beside the last message is reason enough: all before it was served, or is too short to be. */
function endsBeforeAside({
  cachedTokens,
  sharedTokens,
  asideTokens,
  ...sent
}: SentPrompt): boolean {
  const before = sharedTokens - asideTokens;
  return (
    asideTokens > 0 && (isServed(cachedTokens, before) || before < (sent.cacheFromTokens ?? 0))
  );
}

/** Why a prompt was not served from the cache; undefined: half of what it shares with the one before it was, or more. */
export function cacheMiss(sent: SentPrompt): CacheMiss | undefined {
  const { change, sharedTokens, cacheFromTokens, modelBefore, idleMs } = sent;
  if (isServed(sent.cachedTokens, sharedTokens)) return undefined;
  if (cacheFromTokens === undefined) return 'NO_CACHE';
  if (change === 'begun') return 'FIRST_TURN';
  if (change === 'compacted') return 'COMPACTION';
  if (sharedTokens < cacheFromTokens) return 'TOO_SHORT';
  if (change === 'edited') return 'EDIT';
  if (modelBefore !== undefined && modelBefore !== sent.model) return 'MODEL';
  const changed = changedPart(sent);
  if (changed) return changed;
  if (sent.isShortened) return 'SHORTENED';
  if (endsBeforeAside(sent)) return 'ASIDE';
  return idleMs !== undefined && idleMs > CACHE_LIFE_MS ? 'IDLE' : 'UNEXPLAINED';
}
