import {
  constraintSection,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { keepingOrder } from './archive-order.ts';
import { textKey } from '#shared/text/one-line.ts';

/** Words that the text of an item says anyway take no room twice; a constraint keeps its proof. */
function withoutSaidQuote(item: ArchivedItem): ArchivedItem {
  const { quote, ...rest } = item;
  const isSaid = quote !== undefined && textKey(item.text).includes(textKey(quote));
  return isSaid && item.section !== constraintSection ? rest : item;
}

const sizeOf = (item: ArchivedItem): number => JSON.stringify(item).length + 1;

const isWithinBounds = (items: readonly ArchivedItem[]): boolean =>
  items.length <= ledgerConstants.archiveItemLimit.value &&
  items.reduce((sum, item) => sum + sizeOf(item), 0) <= ledgerConstants.archiveCharacters.value;

/** Without what a dropped item had taken the place of: with that one gone, it would hold again. */
function withoutReplacedBy(dropped: readonly ArchivedItem[], kept: ReadonlySet<ArchivedItem>) {
  const byId = new Map([...kept].map((item) => [item.id, item]));
  for (let item of dropped)
    for (;;) {
      const replaced = byId.get(item.supersedes ?? '');
      if (replaced === undefined) break;
      byId.delete(replaced.id);
      item = replaced;
    }
  return new Set(byId.values());
}

/**
 * The snapshot with an archive within its bounds: what was replaced goes first, then the unimportant, then
 * what says little for its length or is old.
 */
export function boundArchive(snapshot: Snapshot): Snapshot {
  if (isWithinBounds(snapshot.archive)) return snapshot;
  const slim = { ...snapshot, archive: snapshot.archive.map(withoutSaidQuote) };
  if (isWithinBounds(slim.archive)) return slim;
  let left = ledgerConstants.archiveCharacters.value;
  const kept = new Set(
    keepingOrder(slim)
      .slice(0, ledgerConstants.archiveItemLimit.value)
      .filter((item) => {
        left -= sizeOf(item);
        return left >= 0;
      }),
  );
  const dropped = slim.archive.filter((item) => !kept.has(item));
  const holding = withoutReplacedBy(dropped, kept);
  return { ...slim, archive: slim.archive.filter((item) => holding.has(item)) };
}
