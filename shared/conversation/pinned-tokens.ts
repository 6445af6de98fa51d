import { estimateTextTokens } from '../compaction/token-estimate.ts';
import { ACKNOWLEDGEMENT } from './assemble-context.ts';
import type { Pin } from './head.ts';
import type { History } from './history.ts';
import { pinTokens } from './pin-text.ts';

/**
 * Uncalibrated tokens that pins add to a context: their own and, where no snapshot has one already, those
 * of the acknowledgement. The same measure as that of the turns' stored counts.
 */
export function pinnedTokens(
  pins: readonly Pin[],
  history: Pick<History, 'snapshotText'> | undefined,
): number {
  if (pins.length === 0) return 0;
  const hasSnapshot = (history?.snapshotText ?? '') !== '';
  return (
    pinTokens(pins) + (hasSnapshot ? 0 : estimateTextTokens(ACKNOWLEDGEMENT, 'character-class'))
  );
}
