import {
  singleSections,
  type ArchivedItem,
  type Item,
  type Snapshot,
} from '../../conversation/snapshot.ts';
import { ledgerConstants } from '../ledger-constants.ts';
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

function isTooMany(dropped: number, checked: number): boolean {
  const { unsupportedItemAllowance, unsupportedItemFraction } = ledgerConstants;
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

/** The snapshot with some items replaced; undefined leaves one out. Replaced ones leave the archive. */
function replaceItems(
  snapshot: Snapshot,
  replacements: ReadonlyMap<string, ArchivedItem | undefined>,
): Snapshot {
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
  return { ...snapshot, sections, archive: snapshot.archive.filter(({ id }) => !back.has(id)) };
}

/**
 * Checks every item that this run made or changed against the turns that it cites. What they do not hold
 * is replaced by words that they do; else a new item is dropped and a changed one is what it was before.
 * Refused are more than two drops and 5 % of the checked items.
 */
export function gatePrecision(input: {
  previous: Snapshot | undefined;
  snapshot: Snapshot;
  turns: ReadonlyMap<number, CitedTurn>;
}): Precision {
  const changed = changedItems(input.previous, input.snapshot);
  const replacements = new Map<string, ArchivedItem | undefined>();
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
        dropped.push({ id, section, text, unsupported: verdict.unsupported });
        break;
    }
  }
  return {
    snapshot: replaceItems(input.snapshot, replacements),
    checked: changed.length,
    repaired,
    dropped,
    isRefused: isTooMany(dropped.length, changed.length),
  };
}
