import { oneLine } from '#shared/text/cut.ts';
import { countWideLetters } from '#shared/text/plain-text.ts';
import { engineConstants } from './constants.ts';
import type { OwnSentence, TextSpan } from './user-words.ts';
import type { TurnEvidence, UserSentence } from './whose-words.ts';

export type QuoteRefusal =
  | 'NO_QUOTE'
  | 'QUOTE_TOO_SHORT'
  | 'QUOTE_TOO_LONG'
  /** No turn of the user has it as whole sentences of his own. */
  | 'QUOTE_NOT_OF_USER'
  /** What is there already ends by later words alone. */
  | 'QUOTE_NOT_LATER';

/** Whole sentences of one turn of the user, as he wrote them, a point of a list behind the line that announces it. */
type QuotedSentences =
  | { ok: true; text: string; seq: number }
  | { ok: false; reason: QuoteRefusal };

/** What an operation names as its proof. */
interface Cited {
  quote?: string | undefined;
  /** Stands for a quote where there is none. */
  text?: string | undefined;
  sources: readonly number[];
}

/** Characters of a quote; those that stand for a syllable or a word count twice. */
const weightOf = (quote: string): number => Array.from(quote).length + countWideLetters(quote);

/** What is compared: what is kept is how the user wrote it, so width, case, blanks and marks make no difference. */
const quoteKey = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{S}]/gu, '');

/** Sentences as quotes are looked for in them: one text, and which sentence begins and ends where. */
interface SearchedSentences {
  text: string;
  startingAt: ReadonlyMap<number, UserSentence>;
  endingAt: ReadonlyMap<number, UserSentence>;
}

/**
 * Where a point may end a sentence or an abbreviation, a date, an initial: "… calls before 10. Call Ann.", "… at 10. Downing
 * Street". A quote may end there, and begin behind it, but for an initial, behind which a name goes on.
 */
const possibleEnd = /(?<=[\s(](?:No|Nr|etc|usw|\p{Lu}|\d{1,2})\.)\s+(?=[^\p{Ll}\p{P}\p{N}\s])/gu;

const initialEnd = /\p{Lu}\.$/u;

/** A piece of a sentence, with which a quote may end. */
interface SentencePiece extends UserSentence {
  mayBegin: boolean;
}

function piecesOf(sentence: UserSentence): SentencePiece[] {
  const { text, start } = sentence;
  const pieces: SentencePiece[] = [];
  let from = 0;
  let mayBegin = true;
  for (const { index, 0: blank } of text.matchAll(possibleEnd)) {
    const end = start + index;
    pieces.push({ ...sentence, start: start + from, end, text: text.slice(from, index), mayBegin });
    mayBegin = !initialEnd.test(text.slice(from, index));
    from = index + blank.length;
  }
  return [...pieces, { ...sentence, start: start + from, text: text.slice(from), mayBegin }];
}

const searchedBySentences = new WeakMap<readonly UserSentence[], SearchedSentences>();

/** Many quotes are looked for in the sentences of a turn: they are read once. */
function searched(sentences: readonly UserSentence[]): SearchedSentences {
  const known = searchedBySentences.get(sentences);
  if (known !== undefined) return known;
  const startingAt = new Map<number, UserSentence>();
  const endingAt = new Map<number, UserSentence>();
  const keys: string[] = [];
  let length = 0;
  for (const piece of sentences.flatMap(piecesOf)) {
    const key = quoteKey(piece.text);
    if (key === '') continue;
    if (piece.mayBegin) startingAt.set(length, piece);
    length += key.length;
    endingAt.set(length, piece);
    keys.push(key);
  }
  const read = { text: keys.join(''), startingAt, endingAt };
  searchedBySentences.set(sentences, read);
  return read;
}

/** The stretch of the sentences that a quote consists of, one after the other; undefined: no such sentences. */
function stretchOf(key: string, sentences: readonly UserSentence[]): OwnSentence | undefined {
  const { text, startingAt, endingAt } = searched(sentences);
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + 1)) {
    const first = startingAt.get(at);
    const last = endingAt.get(at + key.length);
    if (first !== undefined && last !== undefined) return { ...first, end: last.end };
  }
  return undefined;
}

/** Whether a stretch is all that the user says in his turn. */
const isWhole = ({ start, end }: TextSpan, sentences: readonly UserSentence[]): boolean =>
  start === sentences[0]?.start && end === sentences.at(-1)?.end;

/**
 * The sentences of the user that a quote consists of, in a turn after `afterSeq`: a cited one, else the newest folded one
 * that has them. Part of a sentence is none: "I never said that you should always book business class" is no wish for
 * business class. A point of a list brings the line that announces it: behind "Do not do this:" it is no wish.
 */
export function quotedSentences(
  { quote, text, sources }: Cited,
  evidence: TurnEvidence,
  { least, afterSeq }: { least: number; afterSeq?: number | undefined },
): QuotedSentences {
  const written = oneLine(quote ?? text ?? '');
  if (written === '') return { ok: false, reason: 'NO_QUOTE' };
  if (written.length > engineConstants.constraintCharacters)
    return { ok: false, reason: 'QUOTE_TOO_LONG' };
  const key = quoteKey(written);
  const missing = quote === undefined ? 'NO_QUOTE' : 'QUOTE_NOT_OF_USER';
  if (key === '') return { ok: false, reason: missing };
  const cited = sources.filter((seq) => evidence.has(seq));
  const others = evidence.seqs.filter((seq) => !cited.includes(seq)).toReversed();
  let isEarlier = false;
  let isShort = false;
  for (const seq of [...cited, ...others]) {
    const sentences = evidence.userSentences(seq);
    const stretch = stretchOf(key, sentences);
    if (stretch === undefined) continue;
    if (afterSeq !== undefined && seq <= afterSeq) {
      isEarlier = true;
      continue;
    }
    const quotation = evidence.userText(seq, stretch);
    // Words of others stand between them.
    if (quoteKey(quotation) !== key) continue;
    if (weightOf(quotation) < least && !isWhole(stretch, sentences)) {
      isShort = true;
      continue;
    }
    const { announcement } = stretch;
    return {
      ok: true,
      text:
        announcement === undefined
          ? quotation
          : `${evidence.userText(seq, announcement)} ${quotation}`,
      seq,
    };
  }
  if (isShort) return { ok: false, reason: 'QUOTE_TOO_SHORT' };
  return { ok: false, reason: isEarlier ? 'QUOTE_NOT_LATER' : missing };
}
