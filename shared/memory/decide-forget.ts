import { ownWords } from '../compaction/facts/speech/own-words.ts';
import { plainText } from '../compaction/facts/speech/plain-text.ts';
import { splitSentences } from '../compaction/facts/speech/sentences.ts';
import { forgetWish, wishStart, type ForgetWish } from './forget-wish.ts';
import type { Note } from './note.ts';
import { hasEvery, namesNothing, tellingWords, type TellingWords } from './telling-words.ts';

/** What becomes of a wish to forget a note. */
type ForgetDecision =
  | { kind: 'forget'; note: Note }
  /** More than one may be meant, or another one: the user is to choose. */
  | { kind: 'choose'; notes: readonly Note[] }
  /** There is no such note. */
  | { kind: 'unknown' }
  /** The user does not ask for it. */
  | { kind: 'notSaid' };

const clauseMarks = [';', ',', '；', '，', '、'];

/** From the clause with the wish on: what stands before it says why. */
function fromWish(sentence: string): string {
  const at = wishStart(plainText(sentence));
  // Where folding changed the length, the whole sentence counts.
  if (at < 0 || plainText(sentence).length !== sentence.length) return sentence;
  const clause = Math.max(...clauseMarks.map((sign) => sentence.lastIndexOf(sign, at)));
  return sentence.slice(clause + 1);
}

/** What a message wishes, and what its sentences name each. */
interface Heard {
  wish: ForgetWish;
  /** By the sentences with the wish; nothing where they only point: "forget that". */
  wished: TellingWords[];
  /** By all of them. */
  named: TellingWords[];
}

const namesSomething = (words: TellingWords): boolean => !namesNothing(words);

function hear(message: string): Heard {
  const sentences = splitSentences(ownWords(message)).map((sentence) => ({
    sentence,
    wish: forgetWish(sentence),
  }));
  const said = sentences.filter(({ wish }) => wish !== 'keep');
  const kind = (['forget', 'perhaps', 'keep'] as const).find((one) =>
    sentences.some(({ wish }) => wish === one),
  );
  const wishing = said.filter(({ wish }) => wish === kind && kind !== 'keep');
  return {
    wish: kind ?? 'none',
    wished: wishing.map(({ sentence }) => tellingWords(fromWish(sentence))).filter(namesSomething),
    named: said.map(({ sentence }) => tellingWords(sentence)).filter(namesSomething),
  };
}

interface ReadNote {
  note: Note;
  /** Plain, with its topics. */
  text: string;
  words: TellingWords;
  /** How much its text names, without its topics. */
  size: number;
}

const sizeOf = ({ stems, pieces }: TellingWords): number => stems.size + pieces.size;

function readNote(note: Note): ReadNote {
  const all = [note.text, ...(note.topics ?? [])].join('\n');
  const size = sizeOf(tellingWords(note.text));
  return { note, text: plainText(all), words: tellingWords(all), size };
}

/** The notes that have all that one sentence names; where some say just that and no more, those. */
function meantBy(notes: readonly ReadNote[], named: TellingWords): ReadNote[] {
  const fitting = notes.filter((note) => hasEvery(note, named));
  const exact = fitting.filter(({ size }) => size <= sizeOf(named));
  return exact.length > 0 ? exact : fitting;
}

/** Whether words are some of others. */
const isWithin = (words: TellingWords, others: TellingWords): boolean =>
  [...words.stems].every((stem) => others.stems.has(stem)) &&
  [...words.pieces].every((piece) => others.pieces.has(piece));

/** What the user wishes: the notes that each of his sentences means. */
interface Wished {
  isSure: boolean;
  notes: ReadNote[][];
}

/** Answers that take a wish back. */
const refuses =
  /^\W*(?:no|nope|wait|stop|nein|halt|non|attends|não|espera|aspetta|いいえ|いや|待って|不|别|別|等等|아니|잠깐)(?!\p{L})/u;

/**
 * The newest message with a wish to forget decides, and one that only points ("forget that") means what was spoken of
 * just before. Messages behind it choose among what it means: "my car" and then "the red one" is the red car. One that
 * says no, or to keep something, ends it; one that only speaks of a note wishes nothing.
 */
function wishOf(notes: readonly ReadNote[], messages: readonly string[]): Wished {
  const heard = messages.map(hear);
  const meaning = (named: readonly TellingWords[]): ReadNote[][] =>
    named.map((each) => meantBy(notes, each)).filter(({ length }) => length > 0);
  const at = heard.findLastIndex(({ wish }) => wish === 'forget' || wish === 'perhaps');
  const nothing: Wished = { isSure: false, notes: [] };
  const asked = heard[at];
  if (asked === undefined) return nothing;
  const isPointing = asked.wished.length === 0 && asked.named.length === 0;
  const wishes = asked.wished.length > 0 ? asked.wished : asked.named;
  let wished = meaning(isPointing ? (heard[at - 1]?.named ?? []) : wishes);
  for (const [index, { wish, named }] of heard.entries()) {
    if (index <= at) continue;
    const chosen = new Set(meaning(named).flat());
    const isRefused = chosen.size === 0 && refuses.test(plainText(messages[index] ?? ''));
    if (wish === 'keep' || isRefused) return nothing;
    const again = named.filter((words) => wishes.some((each) => isWithin(words, each)));
    const both = wished.map((each) => each.filter((note) => chosen.has(note)));
    if (both.some(({ length }) => length > 0)) wished = both.filter(({ length }) => length > 0);
    else if (wished.length === 0) wished = meaning(again);
  }
  return { isSure: asked.wish === 'forget', notes: wished };
}

/**
 * Which note is forgotten. `asked`: what the model names, an id or words; `messages`: the last ones of the user, the
 * oldest first. A note is forgotten only where the user wishes so, and a sentence of his, all of whose telling words it
 * has, means it and no other: "my blue car" is not the blue house. A heuristic that asks rather than guesses; what it does
 * not understand is `choose` or `notSaid`.
 */
export function decideForget(
  notes: readonly Note[],
  asked: { id?: string | undefined; query?: string | undefined },
  messages: readonly string[],
): ForgetDecision {
  const read = notes.map(readNote);
  const words = tellingWords(asked.query ?? '');
  const found = read.filter((note) =>
    asked.id === undefined
      ? !namesNothing(words) && hasEvery(note, words)
      : note.note.id === asked.id,
  );
  const { isSure, notes: spoken } = wishOf(read, messages);
  const isUnknown = found.length === 0;
  if (isUnknown && (asked.id !== undefined || spoken.length === 0)) return { kind: 'unknown' };
  if (spoken.length === 0) return { kind: 'notSaid' };
  const meant = spoken.flatMap(([note, ...others]) => (note && others.length === 0 ? note : []));
  const [target, ...more] = new Set(meant.filter((note) => found.includes(note)));
  if (isSure && target && more.length === 0) return { kind: 'forget', note: target.note };
  return { kind: 'choose', notes: [...new Set(spoken.flat())].map(({ note }) => note) };
}
