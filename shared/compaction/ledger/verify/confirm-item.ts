import { constraintSection, type ArchivedItem } from '#shared/conversation/documents/snapshot.ts';
import { once } from '#shared/once.ts';
import { indexFacts } from '#shared/compaction/facts/index/fact-index.ts';
import { checkedValuesIn, type CheckedValue } from '#shared/compaction/facts/index/unsupported.ts';
import type { ChangedItem } from '../operations/changed-items.ts';
import type { CitedTurn } from '../operations/cited-turns.ts';
import { isGuiding } from '../operations/guiding-sections.ts';
import { textKey } from '#shared/text/one-line.ts';
import { mergeSources } from '../items/statement.ts';
import { withoutValues } from './clauses.ts';
import { isBorneOut } from './borne-out.ts';
import { withoutTurnReferences } from './turn-references.ts';
import { inheritedSources } from './inherited-sources.ts';
import { repairNearDuplicates } from './near-duplicate-repair.ts';
import { findValue, type Citation, type ValueSearch } from './value-search.ts';
import { isHighRisk } from './value-risk.ts';

/** An item after every value of it was looked for. */
export interface ConfirmedItem {
  /** Undefined: no folded turn bears anything of it out. */
  item: ArchivedItem | undefined;
  /** Values that nobody said and that would do harm: they are gone from the item. */
  cut: string[];
  /** Other values that nobody said; they stay. */
  unconfirmed: string[];
  /** How many values somebody said. */
  confirmed: number;
}

/** What an item that was there before said, or the one that it took the place of. */
const earlierTexts = ({ before, superseded }: ChangedItem): string[] =>
  [before, superseded].flatMap((known) =>
    known === undefined ? [] : [known.text, known.quote ?? '', known.at ?? ''],
  );

/** Whether the user said the words that make an item of this section a rule. */
function holdsUserWords(item: ArchivedItem, cited: readonly CitedTurn[]): boolean {
  if (item.section !== constraintSection) return true;
  const quote = textKey(item.quote ?? '');
  return quote !== '' && cited.some(({ userText }) => textKey(userText()).includes(quote));
}

interface Found {
  sources: number[];
  said: number;
  missing: CheckedValue[];
}

function lookUp(values: readonly CheckedValue[], citation: Citation, search: ValueSearch): Found {
  const found: Found = { sources: [...citation.sources], said: 0, missing: [] };
  for (const value of values) {
    const where = findValue(value, citation, search);
    if (where.kind === 'nowhere') found.missing.push(value);
    // "Tomorrow" is said wherever a day is.
    else if (value.kind !== 'date' || /\d/u.test(value.text)) found.said += 1;
    if (where.kind === 'turn') found.sources = mergeSources(found.sources, [where.seq]);
  }
  return found;
}

/** A rule with a value that its user did not say is the words of the user alone. */
const asQuoted = (item: ArchivedItem): ArchivedItem =>
  item.section === constraintSection && item.quote !== undefined
    ? { ...item, text: item.quote }
    : item;

function withoutHarm(item: ArchivedItem, { sources, said, missing }: Found): ConfirmedItem {
  const harmful = missing.filter((value) => isHighRisk(value));
  const unconfirmed = missing.filter((value) => !harmful.includes(value));
  const isRule = item.section === constraintSection;
  if (isRule && missing.length > 0)
    return {
      item: asQuoted(item),
      cut: missing.map(({ text }) => text),
      unconfirmed: [],
      confirmed: said,
    };
  const text = harmful.length === 0 ? item.text : withoutValues(item.text, harmful);
  return {
    item: text === undefined ? undefined : { ...item, text, sources },
    cut: harmful.map(({ text: written }) => written),
    unconfirmed: unconfirmed.map(({ text: written }) => written),
    confirmed: said,
  };
}

/**
 * An item with what its turns bear out. The unit is a value: one that the cited turns lack is looked for in all folded
 * turns and beside them (then the item cites that turn too); one that nobody said goes where it would do harm, and
 * stays, told as unconfirmed, where not. A sentence that repeats one of its turns with another figure becomes that one.
 * References to numbered turns are cut. The rest of the item stays as the model wrote it; it cites the turns of the
 * known items that it takes in.
 */
export function confirmItem(changed: ChangedItem, search: ValueSearch): ConfirmedItem {
  const confirmed = confirmValues(changed, search);
  const { item } = confirmed;
  // A rule cites its user's turns alone.
  if (item === undefined || item.by !== 'model' || item.section === constraintSection)
    return confirmed;
  const inherited = inheritedSources(item.text, search.knownItems());
  if (inherited.every((seq) => item.sources.includes(seq))) return confirmed;
  return { ...confirmed, item: { ...item, sources: mergeSources(item.sources, inherited) } };
}

function confirmValues(changed: ChangedItem, search: ValueSearch): ConfirmedItem {
  const { item } = changed;
  // What code takes from turns is word for word.
  if (item.by === 'code') return { item, cut: [], unconfirmed: [], confirmed: 0 };
  const cited = item.sources.flatMap((seq) => search.turns.get(seq) ?? []);
  const userOnly = item.section === constraintSection;
  const nothing: ConfirmedItem = { item: undefined, cut: [], unconfirmed: [], confirmed: 0 };
  if (!holdsUserWords(item, cited)) return nothing;
  const isSaid = cited.some((turn) => (userOnly ? turn.user : turn.all).says(item.text));
  if (isSaid && item.quote === undefined) return { item, cut: [], unconfirmed: [], confirmed: 0 };
  const earlier = earlierTexts(changed);
  const twins = { cited, turns: search.turns, userOnly, isGuiding: isGuiding(item.section) };
  const repaired = repairNearDuplicates({ item, ...twins, earlierTexts: earlier }) ?? item;
  const phrases = cited.map(({ all }) => all.index().phrases());
  const text = withoutTurnReferences(repaired.text, phrases);
  const current = text === '' || text === repaired.text ? repaired : { ...repaired, text };
  const citation: Citation = {
    sources: current.sources,
    userOnly,
    earlier: once(() => indexFacts(earlier)),
  };
  const found = lookUp(checkedValuesIn(current.text), citation, search);
  if (cited.some(({ holdsMedia }) => holdsMedia))
    // A picture may say what no text says.
    return {
      item: current,
      cut: [],
      unconfirmed: found.missing.map(({ text: value }) => value),
      confirmed: found.said,
    };
  return found.said > 0 || isBorneOut(current.text, search.vocabulary, earlier)
    ? withoutHarm(current, found)
    : { ...nothing, unconfirmed: found.missing.map(({ text: value }) => value) };
}
