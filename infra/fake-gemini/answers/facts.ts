import { isQuestion, questionTerms } from './question-terms.ts';

/**
 * Negated and standing instructions, in the languages of the test conversations: orders ("never …", "please
 * do not …"), duties ("you must not …") and what the speaker refuses; not every "don't" of small talk.
 */
const rulePatterns: readonly RegExp[] = [
  /(?:^|[.,;:!–-]\s*|\b(?:please|and|but|so|then|we|you|that)\s+)(?:never|don['’]?t|do not|avoid|always)\b/i,
  /\b(?:must not|mustn['’]?t|should not|shouldn['’]?t|may not|must never|should never|not allowed)\b/i,
  /\bI (?:never|can['’]?t|cannot|(?:do not|don['’]?t) (?:eat|drink|use|take|allow))\b/i,
  /\bI (?:do not|don['’]?t) want(?! (?:that|this|it)\b)/i,
  /\b(?:answer|reply|write) (?:only|always)\b|\bfrom now on\b/i,
  /\bnothing (?:without|before|after|above|over)\b|^only [^?]+\bplease\b|\bI only (?:want|eat|drink|use)\b/i,
  /\b(?:allergic to|intolerant|vegetarian|vegan)\b|\bwe use \w+(?: here)?, not \w+/i,
  /\b(?:my|our) (?:budget|limit) is\b|\b(?:leave|keep) (?:the|all|your|my)\b[^?]+\bplease\b/i,
  /\b(?:nunca|jamás|niemals|auf keinen Fall|jamais|никогда|нельзя)\b/iu,
  /不要|别(?![的处人墅致])|不能|勿|禁止|千万|必ず|请(?:只|用|以)|请?只(?:选|用|要)|预算最多|予算は|对[^，。]{1,6}过敏|アレルギーが|不吃|しないで|ないでください|てはいけ|하지\s?마|지\s?마|금지|말아/u,
];

/** What can be checked in a sentence, each kind on its own. Heuristics: too many rather than too few. */
const factPatterns: readonly RegExp[] = [
  /https?:\/\/\S+/g,
  /[\w.+-]+@[\w-]+\.[\w.-]+/g,
  /(?<![\w/])(?:~|\.{1,2})?\/?(?:[\w.-]+\/)+[\w-]+\.\w+|(?<![\w/.])\/[\w.-]+(?:\/[\w.-]+)+/g,
  /\b[\w-]+\.(?:ts|js|py|json|md|yaml|yml|txt|go|rs|java|html|css|sh|pdf|csv)\b/g,
  /\b[A-Z]{2,}-?\d[\w-]*|\b[A-Z][A-Z0-9]{4,}\b/g,
  /\b[a-zA-Z0-9]+(?:_[a-zA-Z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b/g,
  /\d+(?:[.,:/-]\d+)*/g,
  /["“「『][^"”」』]{2,80}["”」』]|`[^`]{2,80}`|《[^》]{1,60}》/g,
  /[一二三四五六七八九十百千万两]+(?:年|月|日|号|点|时|時|元|円|分|个|人|岁|歳)/gu,
];

/** Names count less than the rest: chat calls people by name where nothing is said. */
const namePatterns: readonly RegExp[] = [
  // Not a name that is only addressed ("Thanks, Mel!") and not the speaker's label ("Ann: Well").
  /(?<=[\p{Ll}\p{N};)"”]\s)\p{Lu}\p{Ll}+(?:\s\p{Lu}\p{Ll}+)*/gu,
  /[ァ-ヴー]{3,}/gu,
];
const nameWeight = 0.25;
/** "Hey Mel", "Thanks Mel!": a name that is only called. */
const called =
  /\b(?:hey|hi|hello|dear|thanks|thank you|bye|wow|yeah|yep|yes|no|cool|great|sorry|sure|oh|ok|okay|same here|good morning),? \p{Lu}\p{Ll}+/giu;

const pathPattern =
  /(?:[\w.-]+\/)+[\w-]+\.\w+|(?<![\w/.:])\/[\w.-]+(?:\/[\w.-]+)+|\b[\w-]+\.(?:ts|js|py|json|md|yaml|yml|go|rs|java)\b/;

function countMatches(sentence: string, patterns: readonly RegExp[]): number {
  return patterns.reduce((sum, pattern) => sum + (sentence.match(pattern)?.length ?? 0), 0);
}

/**
 * How much there is to check in a sentence: 1 for each number, date, contact, path, identifier, quote or
 * negation, a quarter for a name; 0 when there is nothing.
 */
export function weighFacts(sentence: string): number {
  return (
    countMatches(sentence, factPatterns) +
    nameWeight * countMatches(sentence.replace(called, ''), namePatterns) +
    (isNegated(sentence) ? 1 : 0)
  );
}

const termWeight = 0.02;
const fewestTerms = 4;

/**
 * How much a sentence says beside what can be checked: a fiftieth for each of its content words; 0 for
 * questions and for what has less than four.
 */
export function weighWords(sentence: string): number {
  if (isQuestion(sentence)) return 0;
  const terms = questionTerms(sentence).length;
  return terms < fewestTerms ? 0 : termWeight * terms;
}

/** What the speaker has yet to decide, or says again, is no rule. */
const passing = /\bI['’]ll\b|\bI said\b|先不要/iu;

/** Whether a sentence forbids, or sets a standing rule. */
export function isNegated(sentence: string): boolean {
  return !passing.test(sentence) && rulePatterns.some((pattern) => pattern.test(sentence));
}

const settled =
  /\b(?:booked|reserved|cancel+ed|extended|changed|confirmed|ordered|refunded|committed|merged)\b|已[下订改取申付]|(?:予約|注文|変更|キャンセル)(?:しました|済み)/iu;

/** Whether a sentence tells of something that was arranged. */
export function isSettled(sentence: string): boolean {
  return settled.test(sentence);
}

const oneself =
  /\b(?:I am|I['’]m|I have|I live|I work|my \w+ (?:is|has)|is my \w+|(?:mum|dad|husband|wife) is)\b|我(?:是|叫|住|有|儿子|女儿|先生|太太)|私は|うちの/iu;

/** Whether somebody tells who or how he or his people are. */
export function tellsOfOneself(sentence: string): boolean {
  return oneself.test(sentence);
}

/** Whether a sentence names a file. */
export function namesPath(sentence: string): boolean {
  return pathPattern.test(sentence);
}
