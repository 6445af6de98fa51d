import {
  singleSections,
  type ArchivedItem,
  type Item,
  snapshotTexts,
  type Snapshot,
} from '../../conversation/snapshot.ts';
import { once } from '../../once.ts';
import { precisionConstants } from '../precision-constants.ts';
import { changedItems, type ChangedItem } from './changed-items.ts';
import type { CitedTurn } from './cited-turns.ts';
import { textKey } from './item-text.ts';
import { judgeItem } from './judge-item.ts';

export interface RepairedItem {
  id: string;
  section: string;
  before: string;
  after: string;
}

export interface DroppedItem {
  id: string;
  section: string;
  text: string;
  /** Figures, links and quotes that no cited turn holds; empty where the user's words were missing. */
  unsupported: string[];
}

export interface Precision {
  snapshot: Snapshot;
  /** Items that this run made or changed. */
  checked: number;
  repaired: RepairedItem[];
  dropped: DroppedItem[];
  /** More was dropped than a summary may lose: it is an invention rather than a slip. */
  isRefused: boolean;
}

export interface GateInput {
  previous: Snapshot | undefined;
  snapshot: Snapshot;
  /** The folded turns by seq. */
  turns: ReadonlyMap<number, CitedTurn>;
}

function isTooMany(dropped: number, checked: number): boolean {
  const { unsupportedItemAllowance, unsupportedItemFraction } = precisionConstants;
  return (
    dropped > unsupportedItemAllowance.value && dropped > unsupportedItemFraction.value * checked
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

/**
 * The archive without what operations of this run put there unseen: made and replaced at once, and not held by
 * the turns that it cites.
 */
function seenArchive({ previous, snapshot, turns }: GateInput): ArchivedItem[] {
  const archivedIds = new Set(previous?.archive.map(({ id }) => id));
  const known = once(() => new Set(previous && snapshotTexts(previous).map(textKey)));
  return snapshot.archive.filter(
    (item) =>
      archivedIds.has(item.id) ||
      known().has(textKey(item.text)) ||
      judgeItem({ item, before: undefined, superseded: undefined }, turns).kind === 'keep',
  );
}

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
  const back = new Set([...replacements.values()].map((item) => item?.id));
  const archive = snapshot.archive.filter(({ id }) => !back.has(id) && !copies.has(id));
  return { ...snapshot, sections, archive };
}

/**
 * Checks every item that this run made or changed against the turns that it cites. What they do not hold
 * is replaced by words that they do; else a new item is dropped and a changed one is what it was before.
 * Refused are more than two drops and 5 % of the checked items.
 */
export function gatePrecision(input: GateInput): Precision {
  const changed = changedItems(input.previous, input.snapshot);
  const replacements = new Map<string, ArchivedItem | undefined>();
  const copies = new Set<string>();
  const repaired: RepairedItem[] = [];
  const dropped: DroppedItem[] = [];
  for (const one of changed) {
    const { id, section, text } = one.item;
    const verdict = judgeItem(one, input.turns);
    switch (verdict.kind) {
      case 'keep':
        break;
      case 'repair':
        replacements.set(id, verdict.item);
        repaired.push({ id, section, before: text, after: verdict.item.text });
        break;
      case 'drop':
        replacements.set(id, instead(one));
        copies.add(copyOf(one) ?? '');
        dropped.push({ id, section, text, unsupported: verdict.unsupported });
        break;
    }
  }
  return {
    snapshot: replaceItems(
      { ...input.snapshot, archive: seenArchive(input) },
      { items: replacements, copies },
    ),
    checked: changed.length,
    repaired,
    dropped,
    isRefused: isTooMany(dropped.length, changed.length),
  };
}
