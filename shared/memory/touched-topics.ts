import { once } from '../once.ts';
import { readSearchQuery } from '../search/search-query.ts';
import { searchPieces } from '../search/search-words.ts';

/** Of a longer message its beginning is looked at: a topic is what the user speaks of, not a pasted page. */
const MESSAGE_CHARACTERS = 20_000;
/** Words are forms of one word, as `flights` and `flight`, when this much of both is the same. */
const STEM_CHARACTERS_MIN = 4;
/** And no more than this is not. */
const ENDING_CHARACTERS = 2;

/** A word and what is left of it without an ending. */
function* formsOf(word: string): Generator<string> {
  yield word;
  for (let cut = 1; cut <= ENDING_CHARACTERS; cut++)
    if (word.length - cut >= STEM_CHARACTERS_MIN) yield word.slice(0, -cut);
}

/** Words of a message in all of their forms, and its runs of scripts without spaces. */
function wordsOf(message: string): { words: Set<string>; runs: string[] } {
  const words = new Set<string>();
  const runs: string[] = [];
  for (const { kind, text } of searchPieces(message.slice(0, MESSAGE_CHARACTERS))) {
    if (kind === 'run') runs.push(text);
    else for (const form of formsOf(text)) words.add(form);
  }
  return { words, runs };
}

/**
 * Whether a message touches a topic: all words of the topic are in it, in any order and form of up to two
 * letters more or less; of scripts without spaces, all its characters in a row, or every pair of them where they
 * are more than four. Case, accents and width make no difference. A topic without letters and digits is never
 * touched. Heuristic; linear in the message.
 */
export function touchedBy(message: string): (topic: string) => boolean {
  // Most messages meet no topic at all.
  const said = once(() => wordsOf(message));
  return (topic) => {
    const asked = readSearchQuery(topic);
    if (asked.words.length + asked.stretches.length === 0) return false;
    const { words, runs } = said();
    const isSaid = (word: string) => [...formsOf(word)].some((form) => words.has(form));
    return (
      asked.words.every(({ text }) => isSaid(text)) &&
      asked.stretches.every((stretch) => runs.some((run) => run.includes(stretch)))
    );
  };
}
