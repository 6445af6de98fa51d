import type { ArchivedItem } from '#shared/conversation/documents/snapshot.ts';
import type { CitedTurn } from '../operations/cited-turns.ts';

/**
 * Share of statements, 0–1, that stand word for word in a turn that they cite. A summariser that mostly copies sentences
 * leaves out what it had no room to copy; one that writes its own has chosen. No statements → 0.
 */
export function copiedShare(
  items: readonly ArchivedItem[],
  turns: ReadonlyMap<number, CitedTurn>,
): number {
  const isCopied = ({ text, sources }: ArchivedItem): boolean =>
    sources.some((seq) => turns.get(seq)?.all.says(text) === true);
  return items.length === 0 ? 0 : items.filter(isCopied).length / items.length;
}
