import { isAscii } from './plain-text.ts';

/** Words that say nothing by themselves, in several languages. */
const functionWords: ReadonlySet<string> = new Set(
  `a an the this that these those it its is are was were be been am i i'm i'd i'll i've me my we our us you your he she they them
  to of in on at by for with from as and or but so if then than there here will would can could should do does did have has
  had just also too very really please user der die das ein eine und oder ich sie wir es ist sind zu mit von für auf im am bitte
  le la les un une des et ou je tu il elle nous vous de du à au en que qui est sont el los las y o yo que es son por para
  con o os as e ou eu que é são um uma para com il lo gli i un una e o io che è sono per con di si`.split(
    /\s+/,
  ),
);

/** Endings change with the grammar; what is compared is the beginning of a word. */
const STEM_CHARACTERS = 6;

/** Runs of letters; in scripts without blanks every pair of neighbours stands for a word. */
const letters = /\p{L}[\p{L}\p{M}'’]*/gu;
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/u;

/** Signs that nobody sees: a word that has them between its letters is the same word. */
const unseen = /\p{Cf}/gu;

function pairsOf(run: string): string[] {
  const points = Array.from(run);
  return points.length < 2 ? points : points.slice(1).map((point, i) => `${points[i]}${point}`);
}

/** The same runs in a text without capitals and beyond-ASCII signs, where nothing else needs to be looked at. */
const plainLetters = /[a-z][a-z']*/g;

/** The words of a text without its figures, each once: what stays equal when a number is altered. Linear. */
export function distinctWords(text: string): Set<string> {
  if (isAscii(text)) return new Set(text.toLowerCase().match(plainLetters));
  const words = new Set<string>();
  const seen = text.normalize('NFKC').replaceAll(unseen, '').toLowerCase();
  for (const [run] of seen.matchAll(letters))
    for (const word of unspaced.test(run) ? pairsOf(run) : [run]) words.add(word);
  return words;
}

/** The first characters of a word; one beyond the basic plane is two units of a string. */
const stemOf = (word: string): string =>
  word.length <= STEM_CHARACTERS ? word : Array.from(word).slice(0, STEM_CHARACTERS).join('');

/** Of `words`, the beginnings of those that say something: what a paraphrase has in common with its source. */
export function topicWords(words: Iterable<string>): Set<string> {
  const topics = new Set<string>();
  for (const word of words) if (!functionWords.has(word)) topics.add(stemOf(word));
  return topics;
}

/** Runs that hold a figure, in a text without capitals and beyond-ASCII signs. Begun only where a run does: else quadratic. */
const plainRunsWithFigures = /(?<![a-z0-9])[a-z]*[0-9][a-z0-9]*/g;

/** As `plainLetters`, of a text in which those runs are blanks. */
const plainLettersBeside = /(?<![a-z0-9])[a-z]+(?![a-z0-9])(?:'+(?:[a-z]+(?![a-z0-9]))?)*/g;

function plainUnits(text: string): string[] {
  const lower = text.toLowerCase();
  const withFigures = lower.match(plainRunsWithFigures) ?? [];
  const words = lower.match(withFigures.length === 0 ? plainLetters : plainLettersBeside) ?? [];
  const units: string[] = [];
  for (const word of words) if (!functionWords.has(word)) units.push(stemOf(word));
  return units.concat(withFigures);
}

const runs = /[\p{L}\p{N}]+/gu;
const figure = /\p{Nd}/u;

/** What a text says, to be looked for in another: its topics, and whole whatever has figures in it. Linear. */
export const distinctUnits = (text: string): Set<string> => new Set(unitsIn(text));

/** The same, some of it more than once. */
export function unitsIn(text: string): string[] {
  if (isAscii(text)) return plainUnits(text);
  const plain = text.normalize('NFKC').replaceAll(unseen, '').toLowerCase();
  const withFigures: string[] = [];
  const rest = plain.replaceAll(runs, (run) => {
    if (!figure.test(run)) return run;
    withFigures.push(run);
    return ' ';
  });
  return [...topicWords(distinctWords(rest)), ...withFigures];
}

/** Share of `words` that `others` has too, 0–1; no words → 0. */
export function shareIn(words: ReadonlySet<string>, others: ReadonlySet<string>): number {
  if (words.size === 0) return 0;
  let common = 0;
  for (const word of words) if (others.has(word)) common += 1;
  return common / words.size;
}

/** Behind the last ASCII character. */
const ASCII_END = 128;
/** Letters in either case and figures count from 1; what stands between words is 0. */
const places = Uint8Array.from(
  { length: ASCII_END },
  (_, code) =>
    1 + '0123456789abcdefghijklmnopqrstuvwxyz'.indexOf(String.fromCharCode(code).toLowerCase()),
);
/** Places, with that of what stands between words. */
const BASE = 37;

const withSign = (hash: number, place: number): number => (BASE * hash + place) | 0;

/** A hash of a unit (`unitsIn`): of its first characters, up to an apostrophe. Two hardly ever have the same. */
export function hashUnit(unit: string): number {
  let hash = 0;
  for (let at = 0; at < unit.length && at < STEM_CHARACTERS; at++) {
    const code = unit.charCodeAt(at);
    const place = code < ASCII_END ? (places[code] ?? 0) : code;
    if (place === 0) break;
    hash = withSign(hash, place);
  }
  return hash;
}

/**
 * Tells the hashes of all units in a text, and of some other words, without making a string of each. False where the text is
 * not ASCII: then some are missing.
 */
export function hashAsciiWords(text: string, onHash: (hash: number) => void): boolean {
  let hash = 0;
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= ASCII_END) return false;
    const place = places[code] ?? 0;
    if (place > 0) {
      if (length < STEM_CHARACTERS) hash = withSign(hash, place);
      length += 1;
    } else if (length > 0) {
      onHash(hash);
      hash = 0;
      length = 0;
    }
  }
  if (length > 0) onHash(hash);
  return true;
}
