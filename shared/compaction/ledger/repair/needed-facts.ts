import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { isQuestion } from '#shared/conversation/utterances.ts';

/** A line that stamps a message: `[session 3, 1:14 pm on 25 May, 2023]`, `[2022-09-24T12:35]`, `2:30 PM`. */
const stamp = /^\s*(?:\[[^\]]{0,80}\]|\(?[\d:./\s-]{4,20}(?:[ap]\.?m\.?)?\)?)\s*$/iu;
/** Titles, list marks and lines of code. */
const markup =
  /^\s*(?:#{1,6}\s|\*\*|[-*•]\s|\d{1,2}[.)]\s|[{}<>|$]|(?:import|from|const|let|var|def|class|return|export|function)\s)|[{};]\s*$|=>|\)\s*\{|:\s*$/u;
const greeting =
  /^\s*(?:hi|hello|hey|thanks?|thank you|good (?:morning|evening|night)|ok(?:ay)?|wow|great|nice|danke|merci|gracias|ありがとう|こんにちは|谢谢|你好|您好|好的|감사|안녕)[^\p{N}]{0,40}$/iu;
/** Asks for help in words that need no question mark. */
const asksForHelp =
  /\b(?:can|could|would|will) you\b|\bhow (?:can|do|should|could|would|to)\b|\bwhat (?:is|are|should|would|do)\b|\bhelp me\b/iu;

/** Whether a sentence is plain speech: no stamp, heading, list mark, code or greeting. */
const isSpeech = (sentence: string): boolean =>
  !stamp.test(sentence) && !markup.test(sentence) && !greeting.test(sentence);

/** Whether a sentence states something: plain speech that asks nothing. */
export const isStatement = (sentence: string): boolean =>
  isSpeech(sentence) && !isQuestion(sentence) && !asksForHelp.test(sentence);

/** What is installed can be looked up. */
const version = /^v?\d{1,3}(?:\.\d+)*(?:-[a-z]+)?$/iu;

/** Whether an identifier has the figures of a reference, and is no version. */
const isReference = (text: string): boolean =>
  text.replaceAll(/\D/gu, '').length >= 3 && !version.test(text);

/** Whether a date lies on the day it was said or behind it: what was agreed, not what was told. */
function isAhead({ key }: Fact, saidOn: string | undefined): boolean {
  const days = key.split('|').filter((reading) => /^\d{4}-\d\d-\d\d$/u.test(reading));
  return saidOn !== undefined && days.some((day) => day > saidOn);
}

/** Whether the user himself says a fact in plain speech, questions included: what he asks about he may ask again. */
export const isSaidByUser = ({ tier, speaker, isShown, sentence }: Fact): boolean =>
  tier === 1 && speaker === 'user' && isShown !== true && isSpeech(sentence);

/**
 * Whether a later answer would need a fact that the user stated: identifiers, contacts, amounts, dates ahead, and what
 * is wanted always or never. `saidOn` is the day of its turn. Heuristic.
 */
export function isNeededLater(fact: Fact, saidOn: string | undefined): boolean {
  if (!isSaidByUser(fact)) return false;
  switch (fact.kind) {
    // What a question names for the first time is stated by it, too.
    case 'identifier':
      return isReference(fact.text);
    case 'email':
    case 'phone':
      return true;
    case 'amount':
      return isStatement(fact.sentence);
    case 'instruction':
      return bindsAnswers(fact.sentence);
    case 'date':
      return isStatement(fact.sentence) && isAhead(fact, saidOn);
    case 'link':
    case 'path':
    case 'time':
    case 'quantity':
    case 'number':
    case 'quoted':
    case 'name':
    case 'term':
      return false;
  }
}

/** "The crowd must have been unreal!": a guess about something else. */
const guess = /^(?:the|it|that|this|they|those|these)\b.*\bmust\b.*[!！]\s*$/iu;

/** Whether a wish binds answers: a guess with an exclamation mark does not. */
export const bindsAnswers = (wish: string): boolean => isSpeech(wish) && !guess.test(wish);
