import {
  constraintSection,
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { KnownText } from '#shared/compaction/facts/index/text-facts.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { boundArchive } from './bound-archive.ts';
import {
  constraintsBeyondShare,
  mergeConstraints,
  type ConstraintRoom,
} from './bound-constraints.ts';
import { evictionOrder } from './eviction-order.ts';
import { valuedFacts, type LastingFact } from '../items/item-facts.ts';
import { renderWorkingLayer, type SnapshotRoom } from '../render-snapshot.ts';
import { uniqueFactHolders } from './unique-fact-holders.ts';

interface FittedSnapshot {
  snapshot: Snapshot;
  /** How many items went from the working layer to the archive. */
  archived: number;
  /** The constraints took more than their share of the budget: the least useful of them went, too. */
  constraintsOverBudget: boolean;
}

function withoutItems(snapshot: Snapshot, gone: readonly ArchivedItem[]): Snapshot {
  const ids = new Set(gone.map(({ id }) => id));
  return {
    ...snapshot,
    sections: Object.fromEntries(
      Object.entries(snapshot.sections).map(([section, items]) => [
        section,
        items.filter(({ id }) => !ids.has(id)),
      ]),
    ),
  };
}

const tokensOf = (snapshot: Snapshot, { counting }: SnapshotRoom): number =>
  estimateTextTokens(renderWorkingLayer(snapshot), counting);

/** The fewest items, in the order of eviction, without which the working layer fits. */
function evicted(
  snapshot: Snapshot,
  order: readonly ArchivedItem[],
  room: SnapshotRoom,
): readonly ArchivedItem[] {
  const fitsWithout = (count: number): boolean =>
    tokensOf(withoutItems(snapshot, order.slice(0, count)), room) <= room.budgetTokens;
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (fitsWithout(middle)) high = middle;
    else low = middle + 1;
  }
  return order.slice(0, low);
}

interface FitOptions extends ConstraintRoom {
  newestSeq: number;
  /** What should stay said, and the texts beside the snapshot that may say it. */
  wanted?: { facts: readonly LastingFact[]; keptTexts: readonly KnownText[] };
}

/** The items that go, the first to go first: none where all fit. */
function leaving(snapshot: Snapshot, options: FitOptions): readonly ArchivedItem[] {
  const { newestSeq, counting, wanted } = options;
  if (tokensOf(snapshot, options) <= options.budgetTokens) return [];
  const facts = valuedFacts(workingItems(snapshot), wanted?.facts ?? []);
  const order = evictionOrder(snapshot, { newestSeq, counting, facts });
  if (wanted === undefined) return evicted(snapshot, order, options);
  const constraints = snapshot.sections[constraintSection] ?? [];
  const staying = [...wanted.keptTexts, ...constraints.map(({ text }) => text)];
  const holders = uniqueFactHolders(order, wanted.facts, staying);
  const inOrder = evictionOrder(snapshot, { newestSeq, counting, facts, soleHolders: holders });
  return evicted(snapshot, inOrder, options);
}

/**
 * A snapshot whose working layer, rendered, has at most `budgetTokens`: what is worth least goes to the archive, and
 * what the archive cannot hold is dropped; items that alone say a wanted fact go late. Rules that say the same are one;
 * beyond their share of the budget the least useful go, within it none.
 */
export function fitSnapshot(given: Snapshot, options: FitOptions): FittedSnapshot {
  const merged = mergeConstraints(given);
  const beyond = constraintsBeyondShare(merged, options);
  const snapshot = beyond.length === 0 ? merged : withoutItems(merged, beyond);
  const gone = [...beyond, ...leaving(snapshot, options)];
  const fitting = gone.length === 0 ? snapshot : withoutItems(snapshot, gone);
  return {
    snapshot: boundArchive({ ...fitting, archive: [...snapshot.archive, ...gone] }),
    archived: gone.length,
    constraintsOverBudget: beyond.length > 0,
  };
}
