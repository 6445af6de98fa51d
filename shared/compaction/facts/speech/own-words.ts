import {
  announcesPaste,
  announcesMuch,
  holdsColon,
  isChatLine,
  isMailField,
  isOthersSpeech,
  isSureMailField,
  opensMail,
  findSpeaker,
  speechStart,
  weightOfText,
  workStart,
} from './attributions.ts';
import {
  greetingWithin,
  greetsSomebody,
  isLongParagraph,
  letterLines,
  opensWithName,
  saysSomething,
} from './pasted-letters.ts';
import { quotedSpans, type TextSpan } from './quoted-speech.ts';
import {
  fenceEnd,
  isEmpty,
  isFence,
  isQuotedLine,
  LINE_CHARACTERS,
  textLines,
  nearParagraph,
  nextFull,
  paragraphEnd,
  lineBeginning,
  type TextLine,
} from './text-lines.ts';

/** Shorter quotations are terms: a name, a title, what to put into a field. */
const TERM_WEIGHT = 24;
/** How far from a quotation the words may stand that say whose it is. */
const ATTRIBUTION_CHARACTERS = 120;
/** Of a letter: a longer one ends here. */
const LETTER_LINES = 400;
/** Of a head of a mail. */
const HEAD_LINES = 6;
/** Stands where something was left out, so that no words of two places make one sentence. */
const GAP = '\uFFFC';

/** Between two sentences. */
const sentenceBorder = /[.!?]\s+[\p{L}\p{N}]|[。！？][\s]*[\p{L}\p{N}]/u;

interface Reading {
  text: string;
  lines: readonly TextLine[];
  /** Where the quotation ends that begins at a place. */
  quotedFrom: ReadonlyMap<number, number>;
}

/** Behind which line a text ends that the line before `from` announces. */
function pastedEnd({ lines, quotedFrom }: Reading, from: number): number {
  const next = nextFull(lines, from);
  const line = lines[next];
  if (line === undefined) return lines.length;
  // What marks itself ends where its marks end.
  if (isQuotedLine(line) || isFence(line)) return from;
  const closing = quotedFrom.get(line.start + (line.text.length - line.text.trimStart().length));
  if (closing === undefined) return lines.length;
  let last = next;
  while (last < lines.length && (lines[last]?.end ?? 0) < closing) last += 1;
  return last + 1;
}

/** The head of a mail: fields on lines that follow each other. */
function isMailHead(lines: readonly TextLine[], at: number): boolean {
  const head = lines.slice(at, at + HEAD_LINES).map(lineBeginning);
  const other = head.findIndex((line) => !isMailField(line));
  return other !== 0 && other !== 1 && head.length > 1 && head.some(isSureMailField);
}

/** Lines of a chat without times: `Anna: …`, `Ben: …`, `Anna: …`. A form names each field once. */
function isDialogue(lines: readonly TextLine[], at: number, text: string): boolean {
  if (findSpeaker(text) === undefined) return false;
  const speakers = nearParagraph(lines, at).map((line) => findSpeaker(lineBeginning(line)));
  const names = new Set(speakers);
  return !names.has(undefined) && names.size > 1 && names.size < speakers.length;
}

/** A stretch of lines, and the line behind it. */
interface Block {
  start: number;
  next: number;
}

/** What a line announces that ends with a colon, and what stands behind the colon of a line that asks to work on it. */
function announcedBlock(reading: Reading, at: number, line: TextLine): Block | undefined {
  const { lines } = reading;
  const end = line.text.slice(-LINE_CHARACTERS);
  if (announcesPaste(end)) return { start: line.end, next: pastedEnd(reading, at + 1) };
  const next = nextFull(lines, at + 1);
  if (announcesMuch(end) && isLongParagraph(nearParagraph(lines, next).map(({ text }) => text)))
    return { start: line.end, next: paragraphEnd(lines, next) };
  const colon = workStart(lineBeginning(line));
  if (colon === -1) return undefined;
  const start = line.start + colon;
  if (colon >= line.text.length) return { start: line.end, next: pastedEnd(reading, at + 1) };
  // The marks say what is quoted.
  return reading.quotedFrom.has(start) ? undefined : { start, next: paragraphEnd(lines, at) };
}

/** Words of somebody else behind a colon of a line. */
function spokenBlock(reading: Reading, at: number, line: TextLine): Block | undefined {
  if (!holdsColon(line.text)) return undefined;
  const { lines, quotedFrom } = reading;
  const colon = speechStart(line.text);
  if (colon === -1) return announcedBlock(reading, at, line);
  const said = line.text.slice(colon);
  if (said.trim() === '') return { start: line.end, next: pastedEnd(reading, at + 1) };
  const opening = line.start + colon + (said.length - said.trimStart().length);
  // The marks say what is quoted.
  if (quotedFrom.has(opening)) return undefined;
  const isLetter = opensWithName(said) || /[,，、]\s*$/u.test(said.slice(-20));
  return { start: opening, next: isLetter ? lines.length : paragraphEnd(lines, at) };
}

/** A letter that begins at a line, or within it: `What does he want? Hi Tom, …`. */
function letterBlock({ lines }: Reading, at: number, { start, text }: TextLine): Block | undefined {
  const within = greetsSomebody(text) ? 0 : greetingWithin(text);
  if (within === -1) return undefined;
  const isFirst = within === 0 && lines.findIndex(({ text: said }) => saysSomething(said)) >= at;
  const following = lines.slice(at + 1, at + LETTER_LINES).map((line) => line.text);
  const count = letterLines([text.slice(within), ...following], isFirst);
  return count === 0 ? undefined : { start: start + within, next: at + count };
}

function blockAt(reading: Reading, at: number, line: TextLine): Block | undefined {
  const { lines } = reading;
  const { start } = line;
  if (isEmpty(line)) return undefined;
  if (isFence(line)) return { start, next: fenceEnd(lines, at) };
  if (isQuotedLine(line)) return { start, next: at + 1 };
  const short = lineBeginning(line);
  if (opensMail(short)) return { start, next: Math.max(at + 1, pastedEnd(reading, at + 1)) };
  if (isMailHead(lines, at)) return { start, next: lines.length };
  if (isChatLine(short) || isDialogue(lines, at, short))
    return { start, next: paragraphEnd(lines, at) };
  return letterBlock(reading, at, line) ?? spokenBlock(reading, at, line);
}

/** Lines, in order, that are not the user's: quoted with `>`, fenced, mails, parts of chats, "she wrote: …". */
function othersLines(reading: Reading): TextSpan[] {
  const { lines, text } = reading;
  const spans: TextSpan[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const block = line && blockAt(reading, at, line);
    const next = Math.max(at + 1, block?.next ?? 0);
    const end = lines[next - 1]?.end ?? text.length;
    if (block !== undefined && end > block.start) spans.push({ start: block.start, end });
    at = next;
  }
  return spans;
}

/** Ordered, and none within or over another. */
export function merged(spans: readonly TextSpan[]): TextSpan[] {
  const all: TextSpan[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = all.at(-1);
    if (last === undefined || span.start > last.end) all.push({ ...span });
    else last.end = Math.max(last.end, span.end);
  }
  return all;
}

function cut(text: string, spans: readonly TextSpan[]): string {
  if (spans.length === 0) return text;
  const ends = [0, ...spans.map(({ end }) => end)];
  const starts = [...spans.map(({ start }) => start), text.length];
  return ends
    .map((end, index) => text.slice(end, starts[index]).trim())
    .filter((part) => part !== '')
    .join(`\n${GAP}\n`);
}

const isOthers = (text: string, { start, end }: TextSpan): boolean =>
  isOthersSpeech(
    text.slice(Math.max(0, start - ATTRIBUTION_CHARACTERS), start),
    text.slice(end, end + ATTRIBUTION_CHARACTERS),
  );

const readingOf = (text: string, quoted: readonly TextSpan[]): Reading => ({
  text,
  lines: [...textLines(text)],
  quotedFrom: new Map(quoted.map(({ start, end }) => [start, end])),
});

/**
 * Where, in a text of the user, somebody else speaks: lines quoted with `>` (at any depth), code fences,
 * mails that were forwarded or replied to, exported chats, what stands behind "Marta wrote:" and quotations
 * with such words beside them. In order, merged. A heuristic for safety in English, German, French, Spanish,
 * Portuguese, Italian, Chinese, Japanese and Korean: where a pasted text ends is not always said, and what the
 * user adds below it is taken for part of it; a pasted text that nothing marks is not told apart. Linear.
 */
export function othersSpans(text: string): TextSpan[] {
  const quoted = quotedSpans(text);
  return merged([
    ...othersLines(readingOf(text, quoted)),
    ...quoted.filter((span) => isOthers(text, span)),
  ]);
}

/** A text of the user without the lines of others; quotations within his sentences stay. Linear. */
export const ownLines = (text: string): string =>
  cut(text, merged(othersLines(readingOf(text, quotedSpans(text)))));

/** A text without what it quotes in marks: speech of others, and more than a term. Linear. */
export function withoutQuotations(text: string): string {
  const spans = quotedSpans(text).filter(
    (span) => weightOfText(text.slice(span.start, span.end)) > TERM_WEIGHT || isOthers(text, span),
  );
  return cut(text, merged(spans));
}

/** Quotations of several sentences, whoever said them. */
const passages = (text: string): TextSpan[] =>
  quotedSpans(text).filter(({ start, end }) => sentenceBorder.test(text.slice(start, end)));

/** Where a text shows words, with or without saying whose: those of others, and quotations of several sentences. Linear. */
export const shownSpans = (text: string): TextSpan[] =>
  merged([...othersSpans(text), ...passages(text)]);

/** The user's own words of a text: no lines, speech and longer quotations of others. Linear. */
export const ownWords = (text: string): string => withoutQuotations(ownLines(text));
