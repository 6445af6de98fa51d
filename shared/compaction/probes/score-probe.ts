import type { Fact } from '../facts/index/fact.ts';
import { indexFacts, isHeld } from '../facts/index/fact-index.ts';
import { UNKNOWN } from './probe-prompt.ts';
import type { ProbeQuestion } from './probe-questions.ts';

/** How often what; no values. */
interface ProbeScore {
  asked: number;
  right: number;
  /** The model says that the context does not say it, or says nothing. */
  unknown: number;
  wrong: number;
}

/** With the marks of Markdown that models like to add. */
const answerLine = /^[ \t*-]*(\d{1,2})\**(?: \([\d-]{1,10}\))?[ \t]*[:：.)][ \t*_"'`“„]*(.*)$/gm;

/** The years of a day: who answers with day and month need not write them. */
const yearsIn = ({ kind, key }: Fact): string[] =>
  kind === 'date' ? (key.match(/\d{4}(?=-\d\d-\d\d)/g) ?? []) : [];

/** What an answer says to each question, by its number; the first line of a number counts. */
function answersIn(text: string): Map<number, string> {
  const answers = new Map<number, string>();
  for (const [, number = '', answer = ''] of text.matchAll(answerLine))
    if (!answers.has(Number(number))) answers.set(Number(number), answer.trim());
  return answers;
}

/** Compares the answer to a probe with what was said, in any notation, as verification compares a summary. */
export function scoreProbe(questions: readonly ProbeQuestion[], answer: string): ProbeScore {
  const answers = answersIn(answer);
  const score: ProbeScore = { asked: questions.length, right: 0, unknown: 0, wrong: 0 };
  for (const [i, { fact }] of questions.entries()) {
    const said = answers.get(i + 1) ?? '';
    if (said === '' || said.toUpperCase().startsWith(UNKNOWN)) score.unknown += 1;
    else if (isHeld(fact, indexFacts([said, ...yearsIn(fact)]))) score.right += 1;
    else score.wrong += 1;
  }
  return score;
}
