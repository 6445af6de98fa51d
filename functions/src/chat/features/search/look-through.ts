import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { TurnTexts } from '#shared/search/turn-texts.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { breathe, textsBackwards } from './read-texts.ts';

/** UTF-16 units after which a search stops, however few turns they are. */
const SEARCH_CHARACTERS = 8_000_000;

interface Search {
  conversationId: string;
  conversation: Conversation;
  /** The first turn that is looked through, and how many at most. */
  newest: number;
  turnsMax: number;
  signal?: AbortSignal;
  /** Called with each turn, the newest first. Gives the UTF-16 units that each of its steps has looked at. */
  visit: (texts: TurnTexts) => Generator<number, unknown>;
}

/** UTF-16 units after which what waits in this process has a go. */
const BREATH_CHARACTERS = 16_384;
/** UTF-16 units that a step counts for beside those that it has looked at. */
const STEP_OVERHEAD_CHARACTERS = 500;

/**
 * Runs work of one or more parts, whose steps say how many UTF-16 units they looked at, and lets what waits in this process
 * have a go between them.
 */
export function inBreaths() {
  let sinceBreath = 0;
  return async <T>(steps: Generator<number, T>): Promise<T> => {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      sinceBreath += step.value + STEP_OVERHEAD_CHARACTERS;
      if (sinceBreath < BREATH_CHARACTERS) continue;
      await breathe();
      sinceBreath = 0;
    }
  };
}

/** How far a search came. */
export interface Searched {
  turns: number;
  newestSeq: number;
  /** Oldest turn that was looked through; `newestSeq + 1` where there was none. */
  oldestSeq: number;
  /** Whether no older turn is left. */
  isWhole: boolean;
}

/**
 * Looks through turns, the newest first, until a bound is reached. Turns of which this process has the texts
 * are not read again. Throws StoreUnavailableError, and the signal's reason.
 */
export async function lookThrough(
  dependencies: Pick<ChatDependencies, 'store' | 'cache'>,
  search: Search,
): Promise<Searched> {
  const { conversationId, conversation, newest, turnsMax, signal, visit } = search;
  const end = Math.max(1, newest - turnsMax + 1);
  let oldestSeq = newest + 1;
  let characters = 0;
  const run = inBreaths();
  const range = { newest, oldest: end, ...(signal && { signal }) };
  for await (const step of textsBackwards({ dependencies, conversationId, conversation }, range)) {
    for (const texts of step.texts) await run(visit(texts));
    characters += step.characters;
    oldestSeq -= step.turns;
    if (characters >= SEARCH_CHARACTERS) break;
  }
  return { turns: newest - oldestSeq + 1, newestSeq: newest, oldestSeq, isWhole: oldestSeq <= 1 };
}
