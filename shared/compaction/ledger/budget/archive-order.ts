import {
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { TokenCounting } from '#shared/tokens/token-estimate.ts';
import { valuedFacts } from '../items/item-facts.ts';
import { textKey } from '#shared/text/one-line.ts';
import { uniqueShare, wordWeight } from './item-worth.ts';
import { lastSource } from '../items/statement.ts';

/** Items of an archive are compared with each other alone. */
const archiveCounting: TokenCounting = { rule: 'character-class' };

/** Ids of items that another one took the place of. */
const supersededIds = (snapshot: Snapshot): ReadonlySet<string> =>
  new Set(
    [...workingItems(snapshot), ...snapshot.archive].flatMap(({ supersedes }) =>
      supersedes === undefined ? [] : [supersedes],
    ),
  );

const byValue = (a: ArchivedItem, b: ArchivedItem): number =>
  b.importance - a.importance || lastSource(b) - lastSource(a);

/** What the working layer says, as texts are compared. */
const workingKeys = (snapshot: Snapshot): ReadonlySet<string> =>
  new Set(workingItems(snapshot).map(({ text }) => textKey(text)));

/**
 * The archived items that still hold, the important first, then the newest. What was replaced is left
 * out: it is for search, and would contradict what replaced it; and what the working layer says again.
 */
export function archiveOrder(snapshot: Snapshot): ArchivedItem[] {
  const superseded = supersededIds(snapshot);
  const known = workingKeys(snapshot);
  return snapshot.archive
    .filter(({ id, text }) => !superseded.has(id) && !known.has(textKey(text)))
    .toSorted(byValue);
}

/** Facts and words for their length, less with age. */
function worths(items: readonly ArchivedItem[]): ReadonlyMap<string, number> {
  const facts = valuedFacts(items, []);
  const newestSeq = Math.max(0, ...items.map(lastSource));
  return new Map(
    items.map((item) => {
      const said = [...(facts.get(item.id)?.values() ?? [])];
      const weight = said.reduce((sum, one) => sum + one, wordWeight(item.text));
      return [item.id, weight * uniqueShare(item, { newestSeq, counting: archiveCounting })];
    }),
  );
}

/**
 * The archive from what is kept longest to what is dropped first: what was replaced, then the unimportant, then
 * what says little for its length or is old. Linear.
 */
export function keepingOrder(snapshot: Snapshot): ArchivedItem[] {
  const superseded = supersededIds(snapshot);
  const worth = worths(snapshot.archive);
  const worthOf = ({ id }: ArchivedItem): number => worth.get(id) ?? 0;
  return snapshot.archive.toSorted(
    (a, b) =>
      Number(superseded.has(a.id)) - Number(superseded.has(b.id)) ||
      b.importance - a.importance ||
      worthOf(b) - worthOf(a),
  );
}
