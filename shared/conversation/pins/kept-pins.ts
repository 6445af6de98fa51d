import { contentText } from '../documents/content.ts';
import type { Pin } from '../documents/conversation.ts';
import { pinsAreWithin, type PinBudget, pinTokens } from './pin-budget.ts';
import type { Turn } from '../documents/turn.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { ACKNOWLEDGEMENT } from '../context/assemble-context.ts';
import type { History } from '../documents/history.ts';

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

/** Id of the pin that keeps a turn's user text. */
const keptPinId = (seq: number) => `keep-${seq}`;

export interface KeptPins {
  /** All pins of the next context: those before, then the kept ones in the order they were said. */
  pins: readonly Pin[];
  /** Of `pins` those that are new. */
  added: readonly Pin[];
  /** Turns that were to be kept and did not fit. */
  leftOut: readonly number[];
}

/**
 * The pins after a fold: the user text of every folded turn with retention `keep` becomes one, the newest
 * first as far as the budget goes. A text that does not fit never pushes another pin out. A turn whose pin
 * stands already is not asked again: the owner may have changed the pin. A turn without text has nothing
 * to keep.
 */
export function keptPins(
  pins: readonly Pin[],
  folded: readonly Pick<Turn, 'seq' | 'user' | 'inContext' | 'retention'>[],
  budget: PinBudget,
): KeptPins {
  const wanted = folded
    .filter(({ retention, inContext }) => retention === 'keep' && inContext)
    .map(({ seq, user }): Pin => {
      return { id: keptPinId(seq), text: contentText(user), source: 'api', seq };
    })
    .filter(({ id, text }) => text.trim() !== '' && !pins.some((pin) => pin.id === id));
  const chosen = new Set<Pin>();
  for (const pin of wanted.toReversed())
    if (pinsAreWithin([...pins, ...chosen, pin], budget)) chosen.add(pin);
  const added = wanted.filter((pin) => chosen.has(pin));
  return {
    pins: added.length === 0 ? pins : [...pins, ...added],
    added,
    leftOut: wanted.filter((pin) => !chosen.has(pin)).map(({ seq = 0 }) => seq),
  };
}
