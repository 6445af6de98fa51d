import type { Candidate } from '../summaries/ledger-lines.ts';
import { weighFacts } from './facts.ts';
import { type ModelRequestBody, contentText } from '../server/request.ts';
import type { Summary } from '../summaries/summarise.ts';
import { tamper, type Vices } from '../server/misbehaviour.ts';

/** Whether a request wants one tool output condensed: prompt id `…-condense-{n}`. */
export const isCondensing = (promptId: string): boolean => /-condense-\d+$/.test(promptId);

const limitLine = /at most ([\d,]+) characters/i;
const defaultLimit = 2_000;
const firstLines = 5;
const failure = /error|warning|exception|failed/i;

/** The output as it was sent: all between the first line and the next that is equal to it. */
function outputLines(body: ModelRequestBody): string[] {
  const [boundary, ...lines] = contentText(body.contents?.[0]).split('\n');
  const end = lines.indexOf(boundary ?? '');
  return lines.slice(0, end < 0 ? undefined : end).filter((line) => line.trim() !== '');
}

const candidateOf = (text: string): Candidate => ({
  text,
  quote: text,
  saidBy: 'tool',
  sources: [],
  facts: weighFacts(text),
  isRule: false,
});

/** First those at the top and on failures, then the ones with most to check, as many as have room. */
function chooseLines(lines: readonly string[], limit: number): string[] {
  const weighed = lines.map((text, index) => ({
    text,
    index,
    weight: index < firstLines || failure.test(text) ? Infinity : weighFacts(text),
  }));
  let left = limit;
  return weighed
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => (a.weight === b.weight ? a.index - b.index : b.weight - a.weight))
    .filter(({ text }) => {
      if (text.length + 1 > left) return false;
      left -= text.length + 1;
      return true;
    })
    .toSorted((a, b) => a.index - b.index)
    .map(({ text }) => text);
}

/**
 * A tool output in fewer lines, verbatim and in order: the first five, those on failures and those with
 * figures, paths or identifiers, equal ones once, within the limit of characters that the request states.
 */
export function condense(task: { body: ModelRequestBody; seed: string; vices: Vices }): Summary {
  const { body, seed, vices } = task;
  const stated = limitLine.exec(contentText(body.contents?.at(-1)))?.[1]?.replaceAll(',', '');
  const limit = stated === undefined ? defaultLimit : Number(stated);
  const lines = chooseLines([...new Set(outputLines(body))], limit);
  const { kept, dropped, altered } = tamper(seed, vices, lines.map(candidateOf));
  return { text: kept.map(({ text }) => text).join('\n'), dropped, altered };
}
