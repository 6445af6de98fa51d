import { latinWishes, type WishPatterns } from '../languages/constraint-patterns.ts';
import {
  chineseWishes,
  japaneseWishes,
  koreanWishes,
} from '../languages/constraint-patterns-eastern.ts';
import { merged, othersSpans } from './own-words.ts';
import { foldWidth, isAscii } from '#shared/text/plain-text.ts';
import { quotedSpans, type TextSpan } from './quoted-speech.ts';
import { sentenceSpans, type SentenceSpan } from '#shared/text/sentences.ts';
import { holdsSign, signs } from '../index/signs.ts';
import { takenBackSpans } from './taken-back.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';
import { triggeredLanguages } from '../languages/wish-triggers.ts';

interface Constraint {
  /** Words of the user, exactly. */
  sentence: string;
}

/** Speech of others and code: what stands in them is nobody's wish. */
const quoted =
  /"[^"\n]{0,300}"|«[^»]{0,300}»|„[^"“]{0,300}["“]|「[^」]{0,300}」|『[^』]{0,300}』|`[^`\n]{0,300}`/gu;
const request =
  /\b(?:can|could|would) you (?:please )?(?:always|never|only|make sure|avoid|not)\b/i;
/** More is a text that the user shows, not one that he says. */
const UTTERANCE_CONSTRAINTS = 40;
const codeLike =
  /[{};]\s*$|^\s*(?:\/\/|#include|import |const |def |function |class |\$ |<\w)|=>|\)\s*\{/;

/** A rule is short; what is longer tells a story in which one may stand. */
const WISH_CHARACTERS = 240;
/** Asks for help, with or without a question mark. */
const asksHow =
  /\b(?:how|what|which)\s(?:can|do|does|should|could|would|to|is|are)\s|\b(?:explain|show|tell)\s(?:me\s)?(?:how|why|what)\b|\b(?:can|could|would) you (?:please )?(?:help|explain|show|provide|give|suggest|review|check)\b/iu;

const isOf = (sentence: string, patterns: WishPatterns): boolean =>
  patterns.wish.test(sentence) && !patterns.not.test(sentence);

const latinPatternsFor = (sentence: string): readonly WishPatterns[] =>
  [...triggeredLanguages(sentence)].map((language) => latinWishes[language]);

/** The languages that a sentence can be in, by its script. */
function patternsFor(sentence: string): readonly WishPatterns[] {
  if (isAscii(sentence)) return latinPatternsFor(sentence);
  if (/\p{sc=Hangul}/u.test(sentence)) return [koreanWishes];
  if (/[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(sentence)) return [japaneseWishes];
  if (/\p{sc=Han}/u.test(sentence)) return [chineseWishes];
  return latinPatternsFor(sentence);
}

/** Questions ask; only "could you always…" wishes. */
const isQuestion = (sentence: string): boolean => /[?？]\W{0,3}$/u.test(sentence);

const withoutQuoted = (sentence: string): string =>
  holdsSign(sentence, signs.quote | signs.beyondAscii)
    ? sentence.replaceAll(quoted, ' ')
    : sentence;

function isConstraint(sentence: string): boolean {
  const said = withoutQuoted(foldWidth(sentence)).trim();
  if (said.length < 4 || said.length > WISH_CHARACTERS || codeLike.test(said)) return false;
  if ((isQuestion(said) || asksHow.test(said)) && !request.test(said)) return false;
  return patternsFor(said).some((patterns) => isOf(said, patterns));
}

/** What is the user's of a wish in which somebody else may speak; undefined where that is no wish. */
function ownWish(
  text: string,
  sentence: TextSpan,
  other: TextSpan | undefined,
): TextSpan | undefined {
  const { start, end } = sentence;
  if (other === undefined || other.start >= end) return sentence;
  const before = text.slice(start, Math.max(start, other.start)).trimEnd();
  // Behind a quotation the sentence goes on; behind "she wrote:" it does not.
  const goesOn = other.start > start && other.end < end;
  const own = `${before} ${goesOn ? text.slice(other.end, end) : ''}`;
  if (!isConstraint(own)) return undefined;
  return goesOn ? sentence : { start, end: start + before.length };
}

/** Whether a sentence, one after the other, is part of a quotation that has more of them. */
function quotedIn(text: string): (sentence: TextSpan) => boolean {
  const quotations = merged(quotedSpans(text));
  let at = 0;
  return ({ start, end }) => {
    while ((quotations[at]?.end ?? Infinity) < end) at += 1;
    const around = quotations[at];
    return around !== undefined && around.start <= start && around.end > end;
  };
}

/** Where the constraints of a text stand, in order: the user's own. `sentences` are those of the text. */
export function constraintSpans(
  text: string,
  sentences: readonly SentenceSpan[] = sentenceSpans(text),
): TextSpan[] {
  const spans: TextSpan[] = [];
  let others: readonly TextSpan[] | undefined;
  let isQuoted: ((sentence: TextSpan) => boolean) | undefined;
  let takenBack: ReadonlySet<TextSpan> | undefined;
  let at = 0;
  for (const sentence of sentences) {
    const { start, end, isShown } = sentence;
    if (spans.length === UTTERANCE_CONSTRAINTS) break;
    if (isShown || !isConstraint(text.slice(start, end))) continue;
    takenBack ??= new Set(takenBackSpans(text, sentences));
    if (takenBack.has(sentence)) continue;
    isQuoted ??= quotedIn(text);
    if (isQuoted({ start, end })) continue;
    others ??= othersSpans(text);
    while ((others[at]?.end ?? Infinity) <= start) at += 1;
    const own = ownWish(text, { start, end }, others[at]);
    if (own !== undefined) spans.push(own);
  }
  return spans;
}

/**
 * Standing wishes of the user (never, always, only, at most, allergic, prefer…) in English, German,
 * French, Spanish, Portuguese, Italian, Korean, Japanese and Chinese; none of other speakers, nor of those
 * whom the user shows or quotes (`othersSpans`), nor what the next sentence takes back. A heuristic for precision: questions, quoted speech, code and narration ("I never knew") are left out, and wishes
 * without such a word are not seen. At most 40 an utterance. Linear.
 */
export function constraintsIn(utterance: Utterance): Constraint[] {
  if (utterance.speaker !== 'user') return [];
  const text = utterance.text.toWellFormed();
  return constraintSpans(text).map(({ start, end }) => ({ sentence: text.slice(start, end) }));
}
