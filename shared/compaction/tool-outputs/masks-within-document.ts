import type { Mask } from '#shared/conversation/documents/history.ts';
import { utf8Length } from '#shared/store/names.ts';
import { toolOutputConstants } from './tool-output-constants.ts';

/** A mask as the history document holds it: without what only its making needs. */
export const storedMask = ({ seq, contentIndex, partIndex, part, condensed }: Mask): Mask => ({
  seq,
  contentIndex,
  partIndex,
  ...(part && { part }),
  ...(condensed !== undefined && { condensed }),
});

/** With the comma behind it. */
const storedBytes = (mask: Mask): number => utf8Length(JSON.stringify(storedMask(mask))) + 1;

/**
 * `masks` (oldest first) as far as the history document has room for them: the newest as they are, then as
 * `least` has them (the same outputs in the same order, in their shortest form), and beyond that none: those
 * outputs stay whole.
 */
export function withinDocument<Kept extends Mask>(
  masks: readonly Kept[],
  least: readonly Kept[],
): Kept[] {
  const leastBytes = least.map(storedBytes);
  let setAside = leastBytes.reduce((sum, bytes) => sum + bytes, 0);
  let left: number = toolOutputConstants.masksBytes.value;
  const kept: Kept[] = [];
  for (let index = masks.length - 1; index >= 0; index--) {
    const [mask, short] = [masks[index], least[index]];
    if (!mask || !short) continue;
    const shortBytes = leastBytes[index] ?? 0;
    setAside -= shortBytes;
    const bytes = mask === short ? shortBytes : storedBytes(mask);
    const isWhole = bytes <= left - setAside;
    if (!isWhole && shortBytes > left) break;
    left -= isWhole ? bytes : shortBytes;
    kept.push(isWhole ? mask : short);
  }
  return kept.toReversed();
}
