import { cutHead, cutTail } from '#shared/text/cut.ts';
import { contentWords } from '#shared/compaction/facts/speech/content-words.ts';

/** Letters of scripts that put blanks between words; in others a text may be cut anywhere. */
const spaced = String.raw`[^\s\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]`;
const wordAtStart = new RegExp(`^${spaced}+`, 'u');
const wordAtEnd = new RegExp(`(?<!${spaced})${spaced}+$`, 'u');
const isInWord = new RegExp(`^${spaced}{2}$`, 'u');

function wordsBefore(text: string, characters: number): string {
  const cut = cutTail(text, characters);
  const cutAt = text.length - cut.length;
  const isCutInWord = isInWord.test(text.slice(Math.max(0, cutAt - 1), cutAt + 1));
  return (isCutInWord ? cut.replace(wordAtStart, '') : cut).trimStart();
}

function wordsAfter(text: string, characters: number): string {
  const cut = cutHead(text, characters);
  const isCutInWord = isInWord.test(text.slice(cut.length - 1, cut.length + 1));
  return (isCutInWord ? cut.replace(wordAtEnd, '') : cut).trimEnd();
}

const unspacedLetter = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gu;
/** One such letter says as much, and costs as much, as this many of a script with blanks. */
const UNSPACED_LETTER_WIDTH = 2.5;

/** How many of the given characters a text of such letters may have. */
function charactersFor(sentence: string, characters: number): number {
  const letters = sentence.match(unspacedLetter)?.length ?? 0;
  const share = letters / Math.max(1, sentence.length);
  return Math.floor(characters / (1 + share * (UNSPACED_LETTER_WIDTH - 1)));
}

/** Where a clause ends: what stands before such a sign reads by itself. */
const clauseEnd = /[，；：]|[,;](?=\s)|\s[-–—](?=\s)/gu;
/** Of the room: a sentence that takes no more is short enough. */
const SHORT_SHARE = 0.5;
/** Less is a scrap that nobody understands. */
const CLAUSE_WORDS = 4;

/** The clauses that hold a part of a sentence; undefined where they are too long, or too short to be understood. */
function clauseAround(
  sentence: string,
  { start, end }: { start: number; end: number },
  characters: number,
): string | undefined {
  let from = 0;
  let to = sentence.length;
  for (const { 0: sign, index } of sentence.matchAll(clauseEnd)) {
    if (index + sign.length <= start) from = index + sign.length;
    else if (index >= end) {
      to = index;
      break;
    }
  }
  const clause = sentence.slice(from, to).trim();
  const isUnderstood = contentWords(clause).length >= CLAUSE_WORDS;
  return isUnderstood && clause.length <= characters ? clause : undefined;
}

/**
 * The words of `sentence` around `fact`: its clause, or where that is too long the words before and behind,
 * at most about `characters` long (fewer in scripts that say more with each) and none of them cut. Part of the
 * sentence, exactly. A short sentence stays whole; undefined when the fact is written otherwise there.
 */
export function shortQuote(sentence: string, fact: string, characters: number): string | undefined {
  const room = charactersFor(sentence, characters);
  if (sentence.length <= SHORT_SHARE * room) return sentence;
  const at = sentence.toLowerCase().indexOf(fact.toLowerCase());
  if (at === -1) return sentence.length <= room ? sentence : undefined;
  const end = at + fact.length;
  const clause = clauseAround(sentence, { start: at, end }, room);
  if (clause !== undefined) return clause;
  if (sentence.length <= room) return sentence;
  const side = Math.max(0, Math.floor((room - fact.length) / 2));
  const before = wordsBefore(sentence.slice(0, at), side);
  const after = wordsAfter(sentence.slice(end), side);
  return `${before}${sentence.slice(at, end)}${after}`;
}
