import type { Turn } from '#shared/conversation/documents/turn.ts';
import { cutHead, cutTail } from '#shared/text/cut.ts';
import type { Fact } from '../facts/index/fact.ts';
import { indexFacts, isHeld, type FactIndex } from '../facts/index/fact-index.ts';
import { unspacedScript } from '#shared/compaction/facts/speech/content-words.ts';
import { readFoldedTurns } from '../ledger/prompt/ledger-reading.ts';
import { isNeededLater } from '../ledger/repair/needed-facts.ts';

/** Questions of one probe: enough for a share over many swaps, and few enough for one short answer. */
const PROBE_QUESTIONS = 5;

/** UTF-16 units of a sentence on either side of the value. */
const SIDE_CHARACTERS = 120;

/** Words that must be left of a sentence, or nothing says which value is meant. */
const WORDS_MIN = 2;

/** What stands in the place of a value. */
export const BLANK = '____';

/** A sentence of a folded turn that asks for the value which it said. */
export interface ProbeQuestion {
  fact: Fact;
  /** With `BLANK` in the place of the value. */
  text: string;
  /** On which day it was said, `2026-05-02`; '' where that is not known. */
  day: string;
}

const word = new RegExp(`[${unspacedScript}]{2}|[\\p{L}\\p{M}]{2,}`, 'gu');

/** A question, and what the rest of its sentence says. */
interface Asked extends ProbeQuestion {
  rest: FactIndex;
}

/** The sentence of a fact with the value left out, on one line; undefined where it would tell the value, or nothing. */
function blanked(fact: Fact, day: string | undefined): Asked | undefined {
  const [before, ...others] = fact.sentence.split(fact.text);
  if (before === undefined || others.length === 0) return undefined;
  const after = others.join(BLANK);
  const text = `${cutTail(before, SIDE_CHARACTERS)}${BLANK}${cutHead(after, SIDE_CHARACTERS)}`
    .replaceAll(/\s+/g, ' ')
    .trim();
  const words = text.match(word) ?? [];
  const rest = indexFacts([text.replaceAll(BLANK, ' ')]);
  if (words.length < WORDS_MIN || isHeld(fact, rest)) return undefined;
  return { fact, text, day: day ?? '', rest };
}

/** Whether one of two questions tells the answer to the other, or nobody knows which of two values is meant. */
const spoils = (one: Asked, other: Asked): boolean =>
  one.text === other.text || isHeld(one.fact, other.rest) || isHeld(other.fact, one.rest);

/**
 * What a model is asked about turns that a swap has folded, the weightiest first: values that their user stated and a
 * later answer needs, which verification promises to keep. By code alone; none where there are none.
 */
export function probeQuestions(folded: readonly Turn[]): ProbeQuestion[] {
  const { facts, cited } = readFoldedTurns(folded);
  const dayOf = ({ seqs: [seq] }: Fact) => (seq === undefined ? undefined : cited.dayOf(seq));
  const asked: Asked[] = [];
  for (const fact of facts().toSorted((one, other) => other.weight - one.weight)) {
    if (asked.length === PROBE_QUESTIONS) break;
    const day = dayOf(fact);
    if (fact.kind === 'instruction' || !isNeededLater(fact, day)) continue;
    const question = blanked(fact, day);
    if (question && !asked.some((other) => spoils(question, other))) asked.push(question);
  }
  return asked;
}
