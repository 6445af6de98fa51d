import { once } from '#shared/lib/once.ts';
import { graphemes } from '../text/cut.ts';

const singleQuote = /[‘’‚‛`´]/g;
const doubleQuote = /[“”„‟«»「」『』]/g;

/** A text for comparison: width, case, quotation marks and runs of white space make no difference. */
export const comparedText = (text: string): string =>
  text
    .replace(singleQuote, "'")
    .replace(doubleQuote, '"')
    .normalize('NFKC')
    .toLowerCase()
    // The form of sigma depends on its place in a word, which a piece of a text does not know.
    .replaceAll('ς', 'σ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** From `start` to `end`, in UTF-16 units. */
interface TextSpan {
  start: number;
  end: number;
}

/** The compared text of every grapheme, and where each of its units comes from. */
function comparedUnits(text: string): { compared: string; from: TextSpan[] } {
  let compared = '';
  const from: TextSpan[] = [];
  for (const { segment, index } of graphemes().segment(text)) {
    const isBlank = segment.trim() === '';
    if (isBlank && (compared === '' || compared.endsWith(' '))) continue;
    const unit = isBlank ? ' ' : comparedText(segment);
    compared += unit;
    for (let i = 0; i < unit.length; i++) from.push({ start: index, end: index + segment.length });
  }
  return { compared, from };
}

/** Where `words`, a compared text, stand in a text for the first time; undefined where they do not. */
function findCompared(text: string, words: string): TextSpan | undefined {
  // Most texts do not have them, and telling so needs no places.
  if (words === '' || !comparedText(text).includes(words)) return undefined;
  const { compared, from } = comparedUnits(text);
  const at = compared.indexOf(words);
  const [first, last] = [from[at], from[at + words.length - 1]];
  return first && last && { start: first.start, end: last.end };
}

/** What the user wrote in a message: its text parts, without those that show a file. */
export interface UserMessage {
  seq: number;
  /** When it came. */
  at: Date;
  texts: readonly string[];
}

/** Whole sentences of one message, word for word. */
interface Quotation {
  seq: number;
  at: Date;
  text: string;
  /** The message has marks of a text that is shown: a letter, a quotation, a list. Whose words these are cannot be told. */
  mayBeOthers: boolean;
  /** Its marks let the message show a text, and the words are not all of `text`: who sees them does not see what a note will say. */
  isPartOfShown: boolean;
}

/** Longer texts are not searched: nobody types them, and reading them for sentences takes its time. */
const TEXT_CHARACTERS_MAX = 20_000;
/** A longer message may show a text. */
const TYPED_CHARACTERS_MAX = 500;

/** Line breaks, quotation marks, code, tags, a colon before words. */
const shownMarks =
  /[\n\r\u2028\u2029\u0085\v\f"“”„‟«»‹›「」『』《》〈〉〝〞❝❞❛❜<>`]|(?<![\p{L}\p{N}])['‘‚]|[:：](?=\s|$|\p{L})/u;
const lineBreaks = /[\n\r\u2028\u2029\u0085\v\f]/g;
const quotations =
  /"[^"]*(?:"|$)|“[^”]*(?:”|$)|„[^“”]*(?:[“”]|$)|«[^»]*(?:»|$)|»[^«]*(?:«|$)|‹[^›]*(?:›|$)|「[^」]*(?:」|$)|『[^』]*(?:』|$)|《[^》]*(?:》|$)/gu;
/**
 * A point behind an initial, behind a short name within a sentence (`Prof.`, `Inc.`; a sentence that ends so is taken along), behind what nobody can
 * pronounce (`Mrs.`, `bzw.`), or behind the number of a list.
 */
const abbreviation =
  /(?<![\p{L}\p{M}\p{N}])(?:\p{L}|(?<=[\p{L}\p{N},]\s)\p{Lu}\p{L}{1,3}|[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{1,5}|\p{N}{1,3})\.\s*$/u;
/** An abbreviation, its point, and a blank or two around them. */
const ABBREVIATION_CHARACTERS = 9;
const edges = /^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu;
/** A point is none: it ends a sentence, or a word. */
const endsInMark = /[^\p{L}\p{M}\p{N}\s.]\s*$/u;

const segmenter = once(() => new Intl.Segmenter('en', { granularity: 'sentence' }));

/**
 * The sentences that a span touches. They end with a mark of their end, by Unicode's rules, not with a line; none ends
 * within quotation marks, and none begins in lower case or behind an abbreviation.
 */
function wholeSentences(text: string, span: TextSpan): TextSpan {
  const quoted = [...text.matchAll(quotations)].map(({ index, 0: { length } }) => ({
    start: index,
    end: index + length,
  }));
  let start = 0;
  let next = 0;
  for (const { index, segment } of segmenter().segment(text.replaceAll(lineBreaks, ' '))) {
    while ((quoted[next]?.end ?? Number.POSITIVE_INFINITY) <= index) next += 1;
    if ((quoted[next]?.start ?? Number.POSITIVE_INFINITY) < index) continue;
    if (index >= span.end) return { start, end: index };
    const before = text.slice(Math.max(0, index - ABBREVIATION_CHARACTERS), index);
    const isDoubtful = /^\p{Ll}/u.test(segment) || abbreviation.test(before);
    if (index <= span.start && !isDoubtful) start = index;
  }
  return { start, end: text.length };
}

/** Whether a message has marks of a text that is shown. */
export const mayShowText = (texts: readonly string[]): boolean =>
  texts.length > 1 ||
  texts.some((text) => {
    const typed = text.trim();
    return typed.length > TYPED_CHARACTERS_MAX || shownMarks.test(typed.normalize('NFKC'));
  });

/** Words as they are looked for: signs at the edges make no difference. */
const searchedWords = (words: string): string => comparedText(words).replaceAll(edges, '');

function quoteText(text: string, words: string) {
  if (text.length > TEXT_CHARACTERS_MAX) return undefined;
  const span = findCompared(text, words);
  if (!span) return undefined;
  const { start, end } = wholeSentences(text, span);
  // "Hi Tom, …", "Summarise: …": what is left out says whose words these are.
  const leftOut = text.slice(start, span.start);
  const isIntroduced = /[\p{L}\p{N}]/u.test(leftOut) && endsInMark.test(leftOut);
  const sentences = text.slice(start, end).trim();
  return {
    text: sentences,
    isIntroduced,
    isWhole: searchedWords(sentences) === words,
  };
}

/**
 * The whole sentences of the user in which `words` stand, from the newest message that has them, `messages` being the
 * oldest first; undefined where none has. White space, case, width, quotation marks and signs at the edges may differ.
 */
export function quoteUser(words: string, messages: readonly UserMessage[]): Quotation | undefined {
  const compared = searchedWords(words);
  for (const { seq, at, texts } of messages.toReversed())
    for (const text of texts) {
      const quotation = quoteText(text, compared);
      if (quotation) {
        const isShown = mayShowText(texts);
        return {
          seq,
          at,
          text: quotation.text,
          mayBeOthers: isShown || quotation.isIntroduced,
          isPartOfShown: isShown && !quotation.isWhole,
        };
      }
    }
  return undefined;
}
