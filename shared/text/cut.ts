let segmenter: Intl.Segmenter | undefined;

/** Cuts texts into what readers take for characters: an emoji with its modifiers, the jamo of a syllable, a flag. */
export const graphemes = (): Intl.Segmenter =>
  (segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' }));

/** How far around an edge characters are looked at; a longer cluster is cut between code points. */
const EDGE_WINDOW = 256;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

const splitsSurrogatePair = (text: string, index: number): boolean =>
  isHighSurrogate(text.charCodeAt(index - 1)) && isLowSurrogate(text.charCodeAt(index));

/** Between two ASCII characters there is always a boundary, but inside CR LF. */
function isPlainBoundary(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  return before < 128 && after < 128 && !(before === 13 && after === 10);
}

/** A place at or before `index` from where clusters can be counted reliably. */
function countingStart(text: string, index: number): number {
  const lowest = Math.max(0, index - EDGE_WINDOW);
  for (let place = index; place > lowest; place--) if (isPlainBoundary(text, place)) return place;
  return lowest > 0 && splitsSurrogatePair(text, lowest) ? lowest - 1 : lowest;
}

/** The cluster that `index` lies inside of, as [start, end]; both are `index` on a boundary. */
function clusterAround(text: string, index: number): [start: number, end: number] {
  if (index <= 0 || index >= text.length || isPlainBoundary(text, index)) return [index, index];
  const from = countingStart(text, index);
  const found = graphemes()
    .segment(text.slice(from, Math.min(text.length, index + EDGE_WINDOW)))
    .containing(index - from);
  if (found === undefined || found.index === index - from) return [index, index];
  const start = from + found.index;
  const end = start + found.segment.length;
  if (end - start < EDGE_WINDOW) return [start, end];
  return splitsSurrogatePair(text, index) ? [index - 1, index + 1] : [index, index];
}

/**
 * The longest beginning of `text` with at most `maxCharacters` UTF-16 units that cuts no surrogate
 * pair and no grapheme (emoji with modifiers, Hangul jamo, flags). 0 or less → ''.
 */
export function cutHead(text: string, maxCharacters: number): string {
  if (maxCharacters >= text.length) return text;
  return text.slice(0, clusterAround(text, Math.max(0, Math.floor(maxCharacters)))[0]);
}

/** The longest ending of `text` with at most `maxCharacters` UTF-16 units; see `cutHead`. */
export function cutTail(text: string, maxCharacters: number): string {
  if (maxCharacters >= text.length) return text;
  const start = text.length - Math.max(0, Math.floor(maxCharacters));
  return text.slice(clusterAround(text, start)[1]);
}

/** A stretch of a text, where it begins and where the next one does. */
interface TextPage {
  text: string;
  from: number;
  next: number;
}

const codePointLength = (text: string, index: number) =>
  splitsSurrogatePair(text, index + 1) ? 2 : 1;

/**
 * The page of at most `characters` UTF-16 units that begins at `from`, or one unit before where that lies
 * inside of a surrogate pair. Cuts as `cutHead` does; where that leaves nothing, between code points, so that
 * every page but the one behind the end holds something. Pages that begin where the one before says make up
 * the text.
 */
export function cutPage(text: string, page: { from: number; characters: number }): TextPage {
  const asked = Math.min(page.from, text.length);
  const from = splitsSurrogatePair(text, asked) ? asked - 1 : asked;
  const shown = cutHead(text.slice(from), page.characters);
  const length = from < text.length && shown === '' ? codePointLength(text, from) : shown.length;
  return { text: text.slice(from, from + length), from, next: from + length };
}

const blanks = /[\s\p{Cc}\uFFFE\uFFFF]+/gu;
/** Any but a single space: most texts have no other. */
const unusualBlank = /[^\S ]|[\p{Cc}\uFFFE\uFFFF]| {2}/u;
const finalPunctuation: ReadonlySet<string> = new Set(' .!?;:,。！？；：，、…');

/**
 * Text as one line: blanks, line ends and characters that XML has no place for become one space, halves of
 * surrogate pairs (which no store takes) the replacement character.
 */
export function oneLine(text: string): string {
  const whole = text.toWellFormed();
  return (unusualBlank.test(whole) ? whole.replaceAll(blanks, ' ') : whole).trim();
}

/** `oneLine`, cut to `maxCharacters` between two graphemes. */
export const oneShortLine = (text: string, maxCharacters: number): string =>
  cutHead(oneLine(text), maxCharacters).trimEnd();

/** Equal for texts that differ in width, case, blanks or final punctuation alone. Linear. */
export function textKey(text: string): string {
  const line = oneLine(text.normalize('NFKC')).toLowerCase();
  let end = line.length;
  while (end > 0 && finalPunctuation.has(line.charAt(end - 1))) end -= 1;
  return line.slice(0, end);
}
