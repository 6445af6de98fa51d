import {
  singleSections,
  type ArchivedItem,
  type Item,
  snapshotTexts,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { once } from '#shared/once.ts';
import type { KnownText } from '#shared/compaction/facts/index/text-facts.ts';
import { precisionConstants } from '#shared/compaction/policy/precision-constants.ts';
import { changedItems, type ChangedItem } from '../operations/changed-items.ts';
import type { CitedTurns } from '../operations/cited-turns.ts';
import { textKey } from '#shared/text/one-line.ts';
import { confirmItem, type ConfirmedItem } from './confirm-item.ts';
import { valueSearch } from './value-search.ts';

export interface RepairedItem {
  id: string;
  section: string;
  before: string;
  after: string;
}

/** Values of one item that no folded turn holds. */
export interface DoubtfulItem {
  id: string;
  section: string;
  text: string;
  /** As written; those of `cut` are gone from the item. */
  cut: string[];
  unconfirmed: string[];
}

export interface DroppedItem {
  id: string;
  section: string;
  text: string;
}

export interface Precision {
  snapshot: Snapshot;
  /** Items that this run made or changed. */
  checked: number;
  repaired: RepairedItem[];
  doubtful: DoubtfulItem[];
  dropped: DroppedItem[];
  /** The answer as a whole is an invention. */
  isRefused: boolean;
}

interface GateInput {
  previous: Snapshot | undefined;
  snapshot: Snapshot;
  /** The folded turns by seq. */
  turns: CitedTurns;
  /** What is known beside them: pins, tail and notes of hooks. */
  knownTexts?: readonly KnownText[];
}

/**
 * Whether an answer is of another conversation, or of none: most of its items are dropped, or most of its values
 * nobody said. Of recorded answers of a capable model none is refused; given to another conversation 24 of 30 are
 * (2026-11-23, six answers and conversations).
 */
function isInvention(counts: {
  dropped: number;
  checked: number;
  missing: number;
  confirmed: number;
}): boolean {
  const { dropped, checked, missing, confirmed } = counts;
  const { inventedItemAllowance, inventedFraction, inventedValueAllowance } = precisionConstants;
  return (
    (dropped > inventedItemAllowance.value && dropped > inventedFraction.value * checked) ||
    (missing > inventedValueAllowance.value &&
      missing > inventedFraction.value * (missing + confirmed))
  );
}

/** What stands instead of a dropped item: what it was, or what it took the place of. */
const instead = ({ item, before, superseded }: ChangedItem): ArchivedItem | undefined =>
  before ?? (superseded?.section === item.section ? superseded : undefined);

function withoutSection(archived: ArchivedItem): Item {
  const { section: _, ...item } = archived;
  return item;
}

/** Items of one section without those that say what an earlier one of them says. */
function distinct(items: readonly Item[]): Item[] {
  const keys = new Set<string>();
  return items.filter(({ text }) => {
    const key = textKey(text);
    return !keys.has(key) && keys.add(key);
  });
}

/** The id under which the archive has the words of an item that has them again. */
const copyOf = ({ item, before }: ChangedItem): string | undefined =>
  before === undefined || before.supersedes === item.supersedes ? undefined : item.supersedes;

interface Replacements {
  /** By id of the item; undefined leaves it out. What comes back leaves the archive. */
  items: ReadonlyMap<string, ArchivedItem | undefined>;
  /** Ids that the archive loses. */
  copies: ReadonlySet<string>;
}

function replaceItems(snapshot: Snapshot, { items: replacements, copies }: Replacements): Snapshot {
  if (replacements.size === 0) return snapshot;
  const sections: Record<string, Item[]> = {};
  for (const [section, items] of Object.entries(snapshot.sections)) {
    const kept = items.flatMap((item) => {
      if (!replacements.has(item.id)) return [item];
      const replacement = replacements.get(item.id);
      return replacement === undefined ? [] : [withoutSection(replacement)];
    });
    sections[section] = singleSections.has(section) ? kept.slice(-1) : distinct(kept);
  }
  const back = new Set(
    [...replacements].flatMap(([id, item]) =>
      item === undefined || item.id === id ? [] : [item.id],
    ),
  );
  const archive = snapshot.archive.filter(({ id }) => !back.has(id) && !copies.has(id));
  return { ...snapshot, sections, archive };
}

/**
 * The archive without what operations of this run put there unseen: made and replaced at once, and not held by
 * the turns that it cites.
 */
function seenArchive(
  { previous, snapshot }: GateInput,
  confirm: (changed: ChangedItem) => ConfirmedItem,
): ArchivedItem[] {
  const archivedIds = new Set(previous?.archive.map(({ id }) => id));
  const known = once(() => new Set(previous && snapshotTexts(previous).map(textKey)));
  return snapshot.archive.flatMap((item) => {
    if (archivedIds.has(item.id) || known().has(textKey(item.text))) return [item];
    return confirm({ item, before: undefined, superseded: undefined }).item ?? [];
  });
}

/**
 * Checks every item that this run made or changed, value by value (`confirmItem`). An item of which nothing is borne
 * out goes; a changed one is then what it was before. An answer that is an invention as a whole is refused.
 */
export function gatePrecision(input: GateInput): Precision {
  const changed = changedItems(input.previous, input.snapshot);
  const search = valueSearch(input.turns, input.knownTexts ?? [], input.previous);
  const confirm = (one: ChangedItem): ConfirmedItem => confirmItem(one, search);
  const replacements = new Map<string, ArchivedItem | undefined>();
  const copies = new Set<string>();
  const precision: Omit<Precision, 'snapshot' | 'isRefused'> = {
    checked: changed.length,
    repaired: [],
    doubtful: [],
    dropped: [],
  };
  let confirmedValues = 0;
  for (const one of changed) {
    const { id, section, text } = one.item;
    const { item, cut, unconfirmed, confirmed } = confirm(one);
    confirmedValues += confirmed;
    if (cut.length + unconfirmed.length > 0)
      precision.doubtful.push({ id, section, text: item?.text ?? text, cut, unconfirmed });
    if (item === undefined) {
      replacements.set(id, instead(one));
      copies.add(copyOf(one) ?? '');
      precision.dropped.push({ id, section, text });
    } else if (item !== one.item) {
      replacements.set(id, item);
      if (item.text !== text)
        precision.repaired.push({ id, section, before: text, after: item.text });
    }
  }
  return {
    ...precision,
    snapshot: replaceItems(
      { ...input.snapshot, archive: seenArchive(input, confirm) },
      { items: replacements, copies },
    ),
    isRefused: isInvention({
      dropped: precision.dropped.length,
      checked: changed.length,
      missing: precision.doubtful.reduce(
        (sum, { cut, unconfirmed }) => sum + cut.length + unconfirmed.length,
        0,
      ),
      confirmed: confirmedValues,
    }),
  };
}
