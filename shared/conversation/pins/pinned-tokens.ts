import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { ACKNOWLEDGEMENT } from '../context/assemble-context.ts';
import type { Pin } from '../documents/head.ts';
import type { History } from '../documents/history.ts';
import { pinTokens } from './pin-budget.ts';

/**
 * Uncalibrated tokens that pins and memory add to a context: their own and, where no snapshot has one
 * already, those of the acknowledgement. The same measure as that of the turns' stored counts.
 */
export function pinnedTokens(
  pins: readonly Pin[],
  history: Pick<History, 'snapshotText'> | undefined,
  memoryTokens = 0,
): number {
  if (pins.length === 0 && memoryTokens === 0) return 0;
  const hasSnapshot = (history?.snapshotText ?? '') !== '';
  const acknowledgement = hasSnapshot ? 0 : estimateTextTokens(ACKNOWLEDGEMENT, 'character-class');
  return (pins.length === 0 ? 0 : pinTokens(pins)) + memoryTokens + acknowledgement;
}
