import type { Candidate, KnownItem } from '../summaries/ledger-lines.ts';
import { weighFacts, weighWords } from '../answers/facts.ts';
import { questionTerms } from '../answers/question-terms.ts';
import { chance } from '../server/misbehaviour.ts';
import type { Item } from './compose-item.ts';
import { longestItem } from './merge-by-subject.ts';

const updateShare = 0.4;
const fewestShared = 2;
/** Sections whose items nobody merges: of one item, or word for word. */
const closed = new Set(['overall_goal', 'active_constraints', 'narrative']);

const readTerms = (text: string): string[] => questionTerms(text).map((term) => term.text);

interface Known {
  item: KnownItem;
  terms: Set<string>;
}

const mayChange = ({ section }: KnownItem, id: string, changed: ReadonlySet<string>): boolean =>
  !closed.has(section) && !changed.has(id);

/** The known item of the same speaker that shares most words with a new one and has room for it. */
function findKnown(item: Item, known: readonly Known[]): KnownItem | undefined {
  const own = questionTerms(item.label).map(({ text }) => text);
  const terms = readTerms(item.statements).filter((term) => !own.includes(term));
  const scored = known
    .filter(
      ({ item: { text } }) =>
        text.startsWith(item.label) && text.length + 2 + item.statements.length <= longestItem,
    )
    .map((each) => ({
      item: each.item,
      shared: terms.filter((term) => each.terms.has(term)).length,
    }))
    .filter(({ shared }) => shared >= fewestShared);
  return scored.toSorted((a, b) => b.shared - a.shared)[0]?.item;
}

/**
 * Now and then a new item is brought into a known one of the same subject: the whole new statement takes its place.
 * Items in `changed` are left alone, and what is changed here is added to them.
 */
export function mergeIntoKnown(
  items: readonly Item[],
  known: readonly KnownItem[],
  { seed, semicolon, changed }: { seed: string; semicolon: string; changed: Set<string> },
): Candidate[] {
  const readKnown = known.map((item) => ({ item, terms: new Set(readTerms(item.text)) }));
  return items.map((item) => {
    if (chance(seed, 'update', item.text) >= updateShare) return item;
    const free = readKnown.filter(({ item: each }) => mayChange(each, each.id, changed));
    const target = findKnown(item, free);
    if (target === undefined) return item;
    changed.add(target.id);
    const text = `${target.text}${semicolon}${item.statements}`;
    return { ...item, text, changes: { op: 'update', id: target.id } };
  });
}

/**
 * Known items that a full room has no place for any more, those that say the least first, until `wanted` is free by
 * `measure`; constraints and goals stay.
 */
export function forgetKnown(
  known: readonly KnownItem[],
  changed: ReadonlySet<string>,
  room: { wanted: number; measure: (text: string) => number; turn: number },
): Candidate[] {
  const weigh = ({ text }: KnownItem): number =>
    (weighFacts(text) + weighWords(text)) / text.length;
  const removed: Candidate[] = [];
  let free = 0;
  for (const item of known
    .filter((each) => mayChange(each, each.id, changed))
    .toSorted((a, b) => weigh(a) - weigh(b))) {
    if (free >= room.wanted) break;
    free += room.measure(item.text);
    removed.push({
      text: item.text,
      quote: '',
      saidBy: 'model',
      sources: [room.turn],
      facts: 0,
      isRule: false,
      changes: { op: 'remove', id: item.id, reason: 'The room is full; later turns need it more.' },
    });
  }
  return removed;
}
