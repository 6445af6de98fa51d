import type { Item } from '#shared/conversation/documents/snapshot.ts';
import { ledgerConstants } from '../ledger-constants.ts';
import { oneLine, oneShortLine } from '#shared/text/one-line.ts';
import type { AddOperation, Operation, UpdateOperation } from '../prompt/operation.ts';
import { splitStatus } from './status-mark.ts';
import type { TurnEvidence } from '../prompt/turn-evidence.ts';

/**
 * Turns of two lists, ascending, each once; of more than the limit, the first and the newest stay.
 */
export function mergeSources(one: readonly number[], other: readonly number[]): number[] {
  const merged = [...new Set([...one, ...other])].toSorted((a, b) => a - b);
  const limit = ledgerConstants.itemSourceLimit.value;
  return merged.length <= limit ? merged : [...merged.slice(0, 1), ...merged.slice(1 - limit)];
}

/** The newest turn that an item cites; 0 for an item without sources. */
export const lastSource = (item: { sources: readonly number[] }): number =>
  item.sources.at(-1) ?? 0;

/** What an operation says, with turns and quote that have been checked. */
export interface Statement {
  text: string;
  /** Ascending, at least one. */
  sources: readonly number[];
  quote: string | undefined;
  status: Item['status'];
}

/** How code marks whose words a sentence is: a model may not, nor behind signs that nobody sees. */
const speakerLabel =
  /^[\s\p{Cf}]*(?:(?:user|assistant|tool|shown by the user)[\s\p{Cf}]*:[\s\p{Cf}]*)+/iu;

/** A text and its status; neither in front of the mark of a status nor behind it is there a label. */
function unlabelled(text: string): ReturnType<typeof splitStatus> {
  const { text: said, status } = splitStatus(oneLine(text).replace(speakerLabel, ''));
  return { text: said.replace(speakerLabel, ''), status };
}

/** The quote of an operation as it is looked for: on one line. */
export function findQuote(operation: Operation): string | undefined {
  if (operation.quote === undefined) return undefined;
  const quote = oneShortLine(operation.quote, ledgerConstants.itemQuoteCharacters.value);
  return quote === '' ? undefined : quote;
}

/** The statement of an operation; a quote that none of `sources` holds is left out. */
export function toStatement(
  operation: AddOperation | UpdateOperation,
  sources: readonly number[],
  evidence: TurnEvidence,
): Statement {
  const quote = findQuote(operation);
  const isHeld = quote !== undefined && sources.some((seq) => evidence.all(seq).includes(quote));
  const { text, status } = unlabelled(operation.text);
  return {
    text: oneShortLine(text, ledgerConstants.itemTextCharacters.value),
    sources,
    quote: isHeld ? quote : undefined,
    status: operation.status ?? status,
  };
}
