import { createProseReader } from './prose-characters.ts';
import { createRepeatedChunks, WINDOW_CHARACTERS } from './repeated-chunks.ts';

/** From this saying on a text may be held back: what stands there twice is common, three times rare. */
const HOLD_TIMES = 3;

/** A model that says the same over and over, found while it does. */
export interface ChantDetector {
  /** Takes what the model says next; whether it chants. Once it does, it stays so. */
  see(delta: string): boolean;
  /**
   * How many UTF-16 units at the end of all that was seen repeat what was said before, or stand behind a
   * chant: who holds them back shows no chant. 0 as soon as something new is said, at most 5,000 unless it chants.
   */
  heldCharacters(): number;
}

/**
 * Finds chants: a chunk of 50 characters that stands ten times within 5,000, in close and regular distances,
 * with next to nothing new in between. Not in fenced code, tables and rulers. Linear time, and memory for the
 * window alone. A heuristic: a poem of one line, or a hundred lines that the user asked for, is a chant too;
 * one with a number that rises in each line is none.
 */
export function createChantDetector(): ChantDetector {
  const markOf = createProseReader();
  const chunks = createRepeatedChunks();
  let held = 0;
  let times = 0;
  let isChant = false;
  let isEmpty = true;

  const take = (character: string) => {
    const mark = markOf(character);
    if (mark === 'outside') {
      if (!isEmpty) chunks.clear();
      isEmpty = true;
      times = 0;
    } else if (mark === 'read') {
      isEmpty = false;
      ({ times, isChant } = chunks.take(character.charCodeAt(0)));
    }
    const mayHold = times >= HOLD_TIMES && held < WINDOW_CHARACTERS;
    held = mayHold || isChant ? held + 1 : 0;
  };

  return {
    see(delta) {
      for (let i = 0; i < delta.length; i++)
        if (isChant) held += 1;
        else take(delta.charAt(i));
      return isChant;
    },
    heldCharacters: () => held,
  };
}
