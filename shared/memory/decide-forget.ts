import { ownWords } from '../compaction/facts/own-words.ts';
import { plainText } from '../compaction/facts/plain-text.ts';
import { sentencesOf } from '../compaction/facts/sentences.ts';
import type { Note } from './note.ts';
import { hasAllOf, namesNothing, tellingWords, type TellingWords } from './telling-words.ts';

/** What becomes of a wish to forget a note. */
export type ForgetDecision =
  | { kind: 'forget'; note: Note }
  /** More than one may be meant, or another one: the user is to choose. */
  | { kind: 'choose'; notes: readonly Note[] }
  /** There is no such note. */
  | { kind: 'unknown' }
  /** The user speaks of none. */
  | { kind: 'notSaid' };

const wish =
  /forget|delete|remove|erase|don't remember|vergiss|vergiß|vergessen|lösch|streich|oubli|efface|supprime|olvid|borra|elimina|esque[cç]|apag|dimentic|cancell|忘|消|削除|删|刪|잊|지워|삭제/u;
const wishToKeep =
  /(?:don't|do not|never|not) (?:\p{L}{1,12} )?(?:forget|delete|remove|erase)|vergiss (?:\p{L}{1,12} )?nicht(?! mehr)|n'oubli|no (?:te |lo |la )?(?:olvid|borr)|não (?:se )?(?:esque|apag)|non dimentic|忘れない|忘れません|消さない|[别別]忘|不要忘|勿忘|不[会會]忘|[别別][删刪]|不要[删刪]|잊지|지우지/u;

const clauseMarks = [';', ',', '；', '，', '、'];

/** From the clause with the wish on: what stands before it says why. */
function fromWish(sentence: string): string {
  const at = plainText(sentence).search(wish);
  // Where folding changed the length, the whole sentence counts.
  if (at < 0 || plainText(sentence).length !== sentence.length) return sentence;
  const clause = Math.max(...clauseMarks.map((sign) => sentence.lastIndexOf(sign, at)));
  return sentence.slice(clause + 1);
}

/** What the sentences of a message name each; where some of them wish something gone, those alone. */
function namedIn(message: string): TellingWords[] {
  const sentences = sentencesOf(ownWords(message)).filter(
    (sentence) => !wishToKeep.test(plainText(sentence)),
  );
  const wishes = sentences.filter((sentence) => wish.test(plainText(sentence)));
  return (wishes.length > 0 ? wishes.map(fromWish) : sentences)
    .map(tellingWords)
    .filter((named) => !namesNothing(named));
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
  const fitting = notes.filter((note) => hasAllOf(note, named));
  const exact = fitting.filter(({ size }) => size <= sizeOf(named));
  return exact.length > 0 ? exact : fitting;
}

/**
 * The notes that each sentence of the user means. The newest message that speaks of any decides, and one before it as
 * far as both agree: "my car" and then "the red one" is the red car.
 */
function spokenOf(notes: readonly ReadNote[], messages: readonly string[]): ReadNote[][] {
  let spoken: ReadNote[][] = [];
  for (const message of messages.toReversed()) {
    const meant = namedIn(message)
      .map((named) => meantBy(notes, named))
      .filter(({ length }) => length > 0);
    const before = new Set(meant.flat());
    const both = spoken.map((each) => each.filter((note) => before.has(note)));
    if (spoken.length === 0) spoken = meant;
    else if (both.every(({ length }) => length > 0)) spoken = both;
  }
  return spoken;
}

/**
 * Which note is forgotten. `asked`: what the model names, an id or words; `messages`: the last ones of the user, the
 * oldest first. A note is forgotten only where a sentence of the user, all of whose telling words it has, means it and no
 * other: "my blue car" is not the blue house. A heuristic that asks rather than guesses; what it does not understand
 * is `choose` or `notSaid`.
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
      ? !namesNothing(words) && hasAllOf(note, words)
      : note.note.id === asked.id,
  );
  const spoken = spokenOf(read, messages);
  const isUnknown = found.length === 0;
  if (isUnknown && (asked.id !== undefined || spoken.length === 0)) return { kind: 'unknown' };
  if (spoken.length === 0) return { kind: 'notSaid' };
  const meant = spoken.flatMap(([note, ...others]) => (note && others.length === 0 ? note : []));
  const [target, ...more] = new Set(meant.filter((note) => found.includes(note)));
  if (target && more.length === 0) return { kind: 'forget', note: target.note };
  return { kind: 'choose', notes: [...new Set(spoken.flat())].map(({ note }) => note) };
}
