import { cutHead } from './cut.ts';
import { countWideLetters } from './plain-text.ts';

/** Nearly every expression finds nothing in nearly every text. */
const noMatches: readonly RegExpExecArray[] = [];

/** Behind an empty match, or it would be found for ever. */
const stepFrom = (text: string, at: number, pattern: RegExp): number =>
  pattern.unicode ? at + ((text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1) : at + 1;

/**
 * All matches of a global expression, as `text.matchAll(pattern)` gives them, without the copy of the
 * expression that it makes on each call: for short texts that copy takes longer than the search. Throws
 * TypeError where the expression is not global.
 */
export function findMatches(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  if (!pattern.global) throw new TypeError(`${pattern.source} is not global`);
  pattern.lastIndex = 0;
  let match = pattern.exec(text);
  if (match === null) return noMatches;
  const matches: RegExpExecArray[] = [];
  while (match !== null) {
    matches.push(match);
    if (match[0] === '') pattern.lastIndex = stepFrom(text, pattern.lastIndex, pattern);
    match = pattern.exec(text);
  }
  return matches;
}

/** Longer sentences are cut at clause borders: an item of a snapshot is a statement, not a page. */
const SENTENCE_CHARACTERS = 300;

/** Where a sentence stands in its text, blanks and list bullets left out. */
interface SentenceSpan {
  start: number;
  end: number;
  /** In a code fence, or in a line that begins with `>`: shown rather than said. */
  isShown: boolean;
}

/** Marks before the words of a line: quotes, bullets, headings, numbers of a list. */
const lineMarks = /^[\s>]{0,60}(?:(?:[-*•‣▪◦·–—]|#{1,6}|\(?\d{1,3}[.)])[ \t　]{1,9})?/u;
const quotedLine = /^[ \t]{0,12}>/;
const fence = /^[ \t]{0,12}(?:```|~~~)/;
/** The end of a sentence with the quotes and brackets behind it. */
const sentenceEnd =
  /[.!?…]{1,9}["'”’»)\]*_]{0,3}(?=\s)|[。！？｡]{1,9}[”’」』）)"']{0,3}|[!?]{1,9}(?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}])/gu;
/** A point that ends no sentence: titles, abbreviations, initials, German dates (3. Mai). */
const abbreviation =
  /(?:^|[\s(])(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|No|Nr|vs|etc|approx|ca|bzw|usw|z\.\s?B|d\.\s?h|e\.g|i\.e|p\.ex|Sra?|Sig|M|Mme|\p{Lu}|\d{1,2})\.$/u;
/** Before a figure `no.` is one, too. */
const numero = /(?:^|[\s(])n[or]\.$/iu;
const figureBehind = /^\s{1,3}\p{Nd}/u;
/** A sign between two digits ends no clause: half of 273,523,615 would be another figure. */
const clauseEnd = /(?!(?<=\p{Nd})[,:，：]\p{Nd})[,;:，；：、)）\]]\s?|\s[-–—]\s|\s/gu;

/** A figure that goes on behind the end of a text. */
const openFigure = /\p{Nd}(?:[\p{Nd},.:，．：/-]){0,40}$/u;
const figureGoesOn = /^[,.:，．：/-]?\p{Nd}/u;

interface Line {
  start: number;
  end: number;
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  while (start <= text.length) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    lines.push({ start, end });
    start = end + 1;
  }
  return lines;
}

function trimmed(text: string, { start, end }: Line): Line {
  if (!mayBeBlank(text.charCodeAt(start)) && end > start && !mayBeBlank(text.charCodeAt(end - 1)))
    return { start, end };
  const inner = text.slice(start, end);
  const from = start + (inner.length - inner.trimStart().length);
  return { start: from, end: Math.max(from, start + inner.trimEnd().length) };
}

/** Whether a UTF-16 unit may be one that trimming takes away: anything that is no plain sign or letter. */
const mayBeBlank = (code: number): boolean => code <= 32 || code >= 127;

/** The place before a figure that a cut at `length` would halve. */
function beforeFigure(text: string, length: number): number {
  if (!figureGoesOn.test(text.slice(length, length + 2))) return length;
  const figure = openFigure.exec(text.slice(0, length));
  return figure === null || figure.index < length / 2 ? length : figure.index;
}

/**
 * The best place to cut the first `length` units of a text: behind the last clause, else the last blank, of their
 * second half.
 */
function clauseCut(text: string, length: number): number {
  let best = 0;
  let isClause = false;
  for (const match of findMatches(text, clauseEnd)) {
    const at = match.index + match[0].length;
    if (at > length) break;
    if (at < length / 2) continue;
    const isBlank = match[0].trim() === '';
    if (!isBlank || !isClause) best = at;
    isClause ||= !isBlank;
  }
  return best === 0 ? beforeFigure(text, length) : best;
}

function cutLong(text: string, span: Line): Line[] {
  const pieces: Line[] = [];
  let { start } = span;
  while (span.end - start > SENTENCE_CHARACTERS) {
    // The text behind the bound is needed to see whether the bound lies in a grapheme.
    const window = text.slice(start, Math.min(span.end, start + 2 * SENTENCE_CHARACTERS));
    const head = cutHead(window, SENTENCE_CHARACTERS);
    const cut = head.length === 0 ? window.length : clauseCut(window, head.length);
    pieces.push(trimmed(text, { start, end: start + cut }));
    start += cut;
  }
  pieces.push(trimmed(text, { start, end: span.end }));
  return pieces.filter((piece) => piece.end > piece.start);
}

function sentencesOfLine(text: string, line: Line): Line[] {
  const words = text.slice(line.start, line.end);
  const marks = lineMarks.exec(words)?.[0].length ?? 0;
  const spans: Line[] = [];
  let start = marks;
  for (const match of findMatches(words, sentenceEnd)) {
    const end = match.index + match[0].length;
    if (end <= start) continue;
    const ending = words.slice(Math.max(start, end - 12), end);
    const isNumero = numero.test(ending) && figureBehind.test(words.slice(end, end + 4));
    if (match[0] === '.' && (isNumero || abbreviation.test(ending))) continue;
    spans.push({ start: line.start + start, end: line.start + end });
    start = end;
  }
  spans.push({ start: line.start + start, end: line.end });
  return spans.map((span) => trimmed(text, span)).filter((span) => span.end > span.start);
}

/** Where the sentences of a text stand, in order. A code fence is one block without its marks. */
export function sentenceSpans(text: string): SentenceSpan[] {
  const spans: SentenceSpan[] = [];
  let block: Line | undefined;
  const add = (found: readonly Line[], isShown: boolean): void => {
    for (const span of found)
      for (const piece of cutLong(text, span)) spans.push({ ...piece, isShown });
  };
  for (const line of linesOf(text)) {
    const opening = text.slice(line.start, Math.min(line.end, line.start + 20));
    const isFence = fence.test(opening);
    if (isFence && block === undefined) block = { start: line.end, end: line.end };
    else if (isFence && block !== undefined) {
      add([trimmed(text, block)], true);
      block = undefined;
    } else if (block === undefined) add(sentencesOfLine(text, line), quotedLine.test(opening));
    else block.end = line.end;
  }
  if (block !== undefined) add([trimmed(text, block)], true);
  return spans;
}

/**
 * The sentences of a text in Latin and East Asian scripts, without list bullets, each at most 300
 * characters: longer ones are cut at clause borders, never inside a grapheme. A code fence is one block.
 * Heuristic: unknown abbreviations end a sentence. Linear.
 */
export function splitSentences(text: string): string[] {
  const wellFormed = text.toWellFormed();
  return sentenceSpans(wellFormed).map(({ start, end }) => wellFormed.slice(start, end));
}

/** Shorter statements say what many turns say (`Yes, please.`); after `plain`. */
const CHARACTERS_MIN = 12;
/** Of a script that needs fewer characters for the same. */
const DENSE_CHARACTERS_MIN = 6;
/** A turn may hold megabytes of tool output; what is said after this is not looked at. */
const CHARACTERS_MAX = 1_000_000;
const SENTENCES_MAX = 5_000;
const TOKENS_MAX = 5_000;

/** Words alone, so that marks, cases and blanks make no difference. */
const plain = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{P}\p{S}]+/gu, ' ')
    .trim();

const isTelling = (words: string) =>
  words.length >= (countWideLetters(words) > 0 ? DENSE_CHARACTERS_MIN : CHARACTERS_MIN);

const token = /[\p{L}\p{N}][\p{L}\p{N}._@:/+-]{4,}[\p{L}\p{N}]/gu;
const date = /^\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:t[\d:.]+z?)?$/u;

const lowered = (text: string) => text.normalize('NFKC').toLowerCase();

/** Order numbers, e-mails, phone numbers, ids and links: words with a digit or an `@` that are no dates. */
const distinctiveTokens = (text: string): string[] =>
  [...lowered(text).matchAll(token)]
    .map(([word]) => word)
    .filter((word) => /[\p{N}@]/u.test(word) && !date.test(word));

/**
 * Whether a statement repeats what `said` says: it holds one of its sentences, is held by it word for
 * word, or has one of its identifiers. A heuristic for statements whose sources do not tell: it misses
 * paraphrases, and sentences of fewer than 12 characters (6 where characters are words); it also finds
 * what another turn says too.
 */
export function repeats(said: readonly string[]): (statement: string) => boolean {
  const text = said.join('\n').slice(0, CHARACTERS_MAX);
  const words = plain(text);
  const sentences = [...new Set(splitSentences(text).map(plain))]
    .filter(isTelling)
    .slice(0, SENTENCES_MAX);
  const tokens = [...new Set(distinctiveTokens(text))].slice(0, TOKENS_MAX);
  const known = new Map<string, boolean>();
  const find = (statement: string): boolean => {
    const stated = plain(statement);
    if (isTelling(stated) && words.includes(stated)) return true;
    if (sentences.some((sentence) => stated.includes(sentence))) return true;
    const raw = lowered(statement);
    return tokens.some((each) => raw.includes(each));
  };
  return (statement) => {
    const found = known.get(statement) ?? find(statement);
    known.set(statement, found);
    return found;
  };
}
