import { createProseReader } from './prose-characters.ts';
import { RepeatedAnchors } from './repeated-anchors.ts';
import { RepeatedChunks, WINDOW_CHARACTERS } from './repeated-chunks.ts';

/** From this saying on a text may be held back: what stands there twice is common, three times rare. */
const HOLD_TIMES = 3;

/** A model that says the same over and over, found while it does. */
interface RepetitionDetector {
  /** Takes what the model says next; whether it chants. Once it does, it stays so. */
  see(delta: string): boolean;
  /**
   * How many UTF-16 units at the end of all that was seen repeat what was said before, or stand behind a
   * chant: who holds them back shows no chant. 0 as soon as something new is said, at most 5,000 unless it chants.
   */
  heldCharacters(): number;
}

/**
 * Every chunk of a text, from the moment on at which something of it is said again: most texts never get there, and cost
 * a quarter. What is missed until then is no longer than ANCHOR_SPAN, and a chant is much longer.
 */
function createRepetitions() {
  let anchors = new RepeatedAnchors();
  let chunks: RepeatedChunks | undefined;
  const lookClosely = (): number => {
    chunks = new RepeatedChunks();
    let times = 0;
    for (const code of anchors.characters()) times = chunks.take(code);
    return times;
  };
  return {
    take: (code: number): number => {
      if (chunks) return chunks.take(code);
      return anchors.take(code) ? lookClosely() : 0;
    },
    isRepetition: () => chunks?.isRepetition ?? false,
    clear: () => {
      anchors = new RepeatedAnchors();
      chunks = undefined;
    },
  };
}

/**
 * Finds chants: a chunk of 50 characters that stands ten times within 5,000, in close and regular distances,
 * with next to nothing new in between. Not in fenced code, tables and rulers. Linear time, and memory for the
 * window alone. A heuristic: a poem of one line, or a hundred lines that the user asked for, is a chant too;
 * one with a number that rises in each line is none.
 */
export function createRepetitionDetector(): RepetitionDetector {
  const markOf = createProseReader();
  const repetitions = createRepetitions();
  let held = 0;
  let times = 0;
  let isRepetition = false;
  let isEmpty = true;

  const take = (code: number) => {
    const mark = markOf(code);
    if (mark === 'outside') {
      if (!isEmpty) repetitions.clear();
      isEmpty = true;
      times = 0;
    } else if (mark === 'read') {
      isEmpty = false;
      times = repetitions.take(code);
      isRepetition = repetitions.isRepetition();
    }
    const mayHold = times >= HOLD_TIMES && held < WINDOW_CHARACTERS;
    held = mayHold || isRepetition ? held + 1 : 0;
  };

  return {
    see(delta) {
      for (let i = 0; i < delta.length; i++)
        if (isRepetition) held += 1;
        else take(delta.charCodeAt(i));
      return isRepetition;
    },
    heldCharacters: () => held,
  };
}
