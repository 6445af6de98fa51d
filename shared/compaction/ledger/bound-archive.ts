import type { Snapshot } from '../../conversation/snapshot.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { keepingOrder } from './archive-order.ts';

/** The snapshot with an archive within its bounds: what was replaced goes first, then the unimportant, then the old. */
export function boundArchive(snapshot: Snapshot): Snapshot {
  let left = ledgerConstants.archiveCharacters.value;
  const kept = new Set(
    keepingOrder(snapshot)
      .slice(0, ledgerConstants.archiveItemLimit.value)
      .filter((item) => {
        left -= JSON.stringify(item).length + 1;
        return left >= 0;
      }),
  );
  return kept.size === snapshot.archive.length
    ? snapshot
    : { ...snapshot, archive: snapshot.archive.filter((item) => kept.has(item)) };
}
