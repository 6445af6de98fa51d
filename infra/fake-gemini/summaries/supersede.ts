import type { Candidate, KnownItem } from './ledger-lines.ts';
import { questionTerms } from '../answers/question-terms.ts';

const correcting = /\b(?:actually|instead|no longer|not any ?more|changed (?:to|my)|correction)\b/i;
const cancelling =
  /\b(?:cancel(?:led|ed)?|forget (?:about|that|what|the)|never mind|drop(?:ped)? the|called off|no longer|no [^?]+ any ?more|you (?:may|can) [^?]+ (?:again|now))\b/i;
const correctingUnspaced = /改成|改为|其实|実は|変更|사실|변경/u;
const cancellingUnspaced = /取消|取り消|不要了|キャンセル|大丈夫です|취소/u;

/** Shares of the known item's words that a statement must repeat to be taken for its successor. */
const sameSubject = 0.5;
const sameSentence = 0.8;

/** What a wish and the words that take it back must share at least. */
const fewestShared = 2;
const sameWish = 0.3;

const identifier = /\b(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z\d][\w-]{3,}\b/g;
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

const cancels = (text: string): boolean => cancelling.test(text) || cancellingUnspaced.test(text);

function verdict(known: Subject, said: Subject, text: string): Verdict {
  const share = overlap(known, said);
  if (share < sameSubject) return undefined;
  if (cancels(text)) return 'remove';
  if (correcting.test(text) || correctingUnspaced.test(text)) return 'update';
  const hasOtherNumbers =
    known.numbers !== '' && said.numbers !== '' && known.numbers !== said.numbers;
  return share >= sameSentence && hasOtherNumbers ? 'update' : undefined;
}

const identifiersIn = (text: string): string[] => text.match(identifier) ?? [];

/** What is cancelled by its identifier, however it is told: "ABC-17 is cancelled". */
const isCancelledIn = (text: string, known: KnownItem): boolean =>
  cancels(text) && identifiersIn(text).some((each) => known.text.includes(each));

interface Known {
  item: KnownItem;
  subject: Subject;
}

const corrects = (text: string): boolean =>
  correcting.test(text) || correctingUnspaced.test(text) || /\bis now\b/i.test(text);

/** The wish that a user takes back or replaces in other words: the one that shares the most with them. */
function changedWish(
  candidate: Candidate,
  said: Subject,
  known: readonly Known[],
): Candidate['changes'] {
  const isOver = cancels(candidate.text);
  if (candidate.saidBy !== 'user' || !(isOver || corrects(candidate.text))) return undefined;
  const wishes = known
    .filter(({ item }) => item.section === 'active_constraints')
    .map(({ item, subject }) => ({
      item,
      shared: [...subject.words].filter((word) => said.words.has(word)).length,
      share: overlap(subject, said),
    }))
    .filter(({ shared, share }) => shared >= fewestShared && share >= sameWish)
    .toSorted((one, other) => other.shared - one.shared || other.share - one.share);
  const id = wishes[0]?.item.id;
  return id === undefined ? undefined : { op: isOver ? 'remove' : 'update', id };
}

function changeOf(candidate: Candidate, known: readonly Known[]): Candidate['changes'] {
  const said = subjectOf(candidate.text);
  for (const { item, subject } of known) {
    if (isCancelledIn(candidate.text, item)) return { op: 'update', id: item.id };
    const op = verdict(subject, said, candidate.text);
    if (op !== undefined) return { op, id: item.id };
  }
  return changedWish(candidate, said, known);
}

/**
 * Leaves out what is known, and turns a statement that corrects or cancels a known item into an update
 * or removal of it: "Actually …", "… instead", nearly the same sentence with another number, an identifier
 * that is cancelled, a wish that its user takes back. A heuristic, and the same for the same input. Each
 * item is changed once, by the last such statement.
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
    const changes = changeOf(candidate, subjects);
    if (changes === undefined) return [candidate];
    const change = { ...candidate, changes };
    changed.set(changes.id, change);
    return [change];
  });
  return result.filter(
    (candidate) =>
      candidate.changes === undefined || changed.get(candidate.changes.id) === candidate,
  );
}
