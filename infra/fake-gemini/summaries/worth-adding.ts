import type { Candidate } from './ledger-lines.ts';
import { questionTerms } from '../answers/question-terms.ts';

const figure = /\d+(?:[.,:/-]\d+)*/g;
const logged = /\b(?:INFO|DEBUG|TRACE)\b/;
/** Share of its words that an answer takes from the question to be an echo of it. */
const echoShare = 0.5;

const termsOf = (text: string): Set<string> =>
  new Set(questionTerms(text).map((term) => term.text));

/** Whether an answer says nothing that the user has not said in the same turn. */
function isEcho({ text }: Candidate, users: string): boolean {
  if ((text.match(figure) ?? []).some((each) => !users.includes(each))) return false;
  const said = termsOf(users);
  const terms = [...termsOf(text)];
  return terms.filter((term) => said.has(term)).length >= echoShare * terms.length;
}

/** A line that a program writes whatever happens, or a single word. */
const isNoise = ({ text, saidBy }: Candidate): boolean =>
  saidBy === 'tool' && (logged.test(text) || !/\s/.test(text.trim()));

/**
 * The statements that somebody who keeps a ledger would write down: no echo of what the user has just
 * said, no log line without a fault, no lone word of a tool.
 */
export function worthAdding(candidates: readonly Candidate[]): Candidate[] {
  const byTurn = new Map<number, string>();
  for (const { saidBy, text, sources } of candidates)
    if (saidBy === 'user')
      for (const seq of sources) byTurn.set(seq, `${byTurn.get(seq) ?? ''}\n${text}`);
  return candidates.filter((candidate) => {
    if (isNoise(candidate)) return false;
    const users = byTurn.get(candidate.sources[0] ?? 0);
    return candidate.saidBy !== 'model' || users === undefined || !isEcho(candidate, users);
  });
}
