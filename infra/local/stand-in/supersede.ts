import type { Candidate } from './candidates.ts';
import type { KnownItem } from './ledger-lines.ts';
import { questionTerms } from './question-terms.ts';

const correcting = /\b(?:actually|instead|no longer|not any ?more|changed (?:to|my)|correction)\b/i;
const cancelling = /\b(?:cancel(?:led|ed)?|forget about|never mind|drop(?:ped)? the|called off)\b/i;
const correctingUnspaced = /改成|改为|其实|実は|変更|사실|변경/u;
const cancellingUnspaced = /取消|キャンセル|취소/u;

/** Shares of the known item's words that a statement must repeat to be taken for its successor. */
const sameSubject = 0.5;
const sameSentence = 0.8;

const number = /\d+(?:[.,:/-]\d+)*/g;

const same = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[.!?。！？]+$/u, '')
    .trim();

interface Subject {
  words: Set<string>;
  numbers: string;
}

function subjectOf(text: string): Subject {
  const words = questionTerms(text.replace(number, ' ')).map((term) => term.text);
  return { words: new Set(words), numbers: (text.match(number) ?? []).join(' ') };
}

/** The share of the known item's words that the statement repeats; 0 for items of less than two words. */
function overlap(known: Subject, said: Subject): number {
  if (known.words.size < 2) return 0;
  return [...known.words].filter((word) => said.words.has(word)).length / known.words.size;
}

type Verdict = 'update' | 'remove' | undefined;

function verdict(known: Subject, said: Subject, text: string): Verdict {
  const share = overlap(known, said);
  if (share < sameSubject) return undefined;
  if (cancelling.test(text) || cancellingUnspaced.test(text)) return 'remove';
  if (correcting.test(text) || correctingUnspaced.test(text)) return 'update';
  const hasOtherNumbers =
    known.numbers !== '' && said.numbers !== '' && known.numbers !== said.numbers;
  return share >= sameSentence && hasOtherNumbers ? 'update' : undefined;
}

/**
 * Leaves out what is known, and turns a statement that corrects or cancels a known item into an update
 * or removal of it: "Actually …", "… instead", or nearly the same sentence with another number. A
 * heuristic, and the same for the same input. Each item is changed once, by the last such statement.
 */
export function supersede(
  candidates: readonly Candidate[],
  known: readonly KnownItem[],
): Candidate[] {
  const held = new Set(known.map(({ text }) => same(text)));
  const subjects = known.map((item) => ({ item, subject: subjectOf(item.text) }));
  const changed = new Map<string, Candidate>();
  const result = candidates.flatMap((candidate): Candidate[] => {
    if (held.has(same(candidate.text))) return [];
    if (candidate.saidBy !== 'user' && candidate.saidBy !== 'model') return [candidate];
    const said = subjectOf(candidate.text);
    for (const { item, subject } of subjects) {
      const op = verdict(subject, said, candidate.text);
      if (op === undefined) continue;
      const change = { ...candidate, changes: { op, id: item.id } };
      changed.set(item.id, change);
      return [change];
    }
    return [candidate];
  });
  return result.filter(
    (candidate) =>
      candidate.changes === undefined || changed.get(candidate.changes.id) === candidate,
  );
}
