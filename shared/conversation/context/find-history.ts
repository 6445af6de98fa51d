import { wholeOutputs, type OutputForms } from '#shared/conversation/context/sent-view.ts';
import { nothingCovered } from '#shared/conversation/documents/conversation.ts';
import type { Conversation, CoveredThrough } from '../documents/conversation.ts';
import { type History, readStoredHistory } from '../documents/history.ts';
import { historyPath } from '../documents/paths.ts';
import { isTerminal, type Turn } from '../documents/turn.ts';
import { cleanHistory } from '../writes/erased-history.ts';
import { contextTokens } from './meter.ts';
import {
  type HistorySource,
  firstTailSeq,
  readContextParts,
  readTurnRange,
} from './read-conversation.ts';

/** Generations of one read. */
const PAGE = 20;

/** What it takes to read histories past the cache. */
type StoredHistories = Omit<HistorySource, 'cache'>;

interface HistoryTarget {
  conversationId: string;
  conversation: Conversation;
}

/** The histories of some generations in the order asked for; missing ones are left out. */
export async function readHistories(
  source: StoredHistories,
  { conversationId, conversation }: HistoryTarget,
  generations: readonly number[],
): Promise<History[]> {
  const documents = await source.store.get(
    generations.map((generation) => historyPath(conversationId, generation)),
  );
  return documents.flatMap((document) =>
    document
      ? [cleanHistory(conversation, readStoredHistory(source, conversationId, document))]
      : [],
  );
}

/** `count` histories one after the other, read in pages: a caller that has found its history reads no further page. */
async function* readHistoriesInPages(
  source: StoredHistories,
  target: HistoryTarget,
  { count, generationAt }: { count: number; generationAt: (index: number) => number },
): AsyncGenerator<History> {
  for (let start = 0; start < count; start += PAGE) {
    const length = Math.min(PAGE, count - start);
    const generations = Array.from({ length }, (_, i) => generationAt(start + i));
    yield* await readHistories(source, target, generations);
  }
}

/** First turn that was replaced, where a generation took turns out of the context that still have words. */
const replacedFrom = ({ changedFromSeq, erasedSeqs }: History): number =>
  erasedSeqs === undefined ? (changedFromSeq ?? Infinity) : Infinity;

/**
 * The newest history that covers no turn after `throughSeq` and may go on, or undefined: it can be
 * read, it was not emptied, and no turn that it covers was replaced since. Its masks may be of later turns.
 */
export async function newestHistoryThrough(
  source: StoredHistories,
  target: HistoryTarget,
  throughSeq: number,
): Promise<History | undefined> {
  let lastSeq = throughSeq;
  const { generation } = target.conversation;
  const newestFirst = { count: generation, generationAt: (i: number) => generation - i };
  for await (const history of readHistoriesInPages(source, target, newestFirst)) {
    const { erased, isUnreadable, coveredThrough } = history;
    if (erased !== true && !isUnreadable && coveredThrough.seq <= lastSeq) return history;
    lastSeq = Math.min(lastSeq, replacedFrom(history) - 1);
  }
  return undefined;
}

/** What may go on in the place of `history`: itself, or, where it cannot be read, the newest earlier one that can, or none. */
export const readableHistory = async (
  source: StoredHistories,
  target: HistoryTarget,
  history: History | undefined,
): Promise<History | undefined> =>
  history?.isUnreadable
    ? newestHistoryThrough(source, target, history.coveredThrough.seq)
    : history;

/** Turns that changed after a generation was made. */
export interface ChangesSince {
  /** First turn that was replaced, it and all after it. */
  replacedFromSeq: number | undefined;
  /** Turns that were erased; histories that cover them are mended or emptied by that. */
  erasedSeqs: number[];
}

/** What changed after `generation` was made. One read for every 20 generations since. */
export async function changesSince(
  source: StoredHistories,
  target: HistoryTarget,
  generation: number,
): Promise<ChangesSince> {
  let first = Infinity;
  const erasedSeqs: number[] = [];
  const count = target.conversation.changedIn - generation;
  const oldestFirst = { count, generationAt: (i: number) => generation + 1 + i };
  for await (const history of readHistoriesInPages(source, target, oldestFirst)) {
    first = Math.min(first, replacedFrom(history));
    erasedSeqs.push(...(history.erasedSeqs ?? []));
  }
  return { replacedFromSeq: first === Infinity ? undefined : first, erasedSeqs };
}

/** What a compaction starts from. */
export interface FoldSource {
  history: History | undefined;
  /** How far `history` stands in for turns. */
  coveredThrough: CoveredThrough;
  /** `history` is not the present one, so that turns which were folded before are read again. */
  isReadAgain: boolean;
  /** The terminal turns behind it. */
  turns: Turn[];
  /** Of the present context, whatever is read again. */
  present: ReturnType<typeof contextTokens>;
}

/**
 * Through which turn an earlier history may cover turns that takes the place of this one; undefined: this one can go on
 * as it is.
 */
function mayCoverThrough({
  isUnreadable,
  rederiveFrom,
  coveredThrough,
}: History): number | undefined {
  if (isUnreadable) return coveredThrough.seq;
  return rederiveFrom === undefined ? undefined : rederiveFrom - 1;
}

/** Calibrated estimate of the context that it makes. */
export const foldSourceTokens = (
  conversation: Conversation,
  source: Pick<FoldSource, 'history' | 'turns'>,
  forms: OutputForms,
): number =>
  contextTokens(
    {
      ...source,
      conversation: { ...conversation, context: { ...conversation.context, source: 'estimated' } },
    },
    forms,
  ).tokens;

/**
 * What a compaction of `conversation` folds: the present context, unless its history cannot be read, or
 * lost statements that are to be derived again. Then the newest earlier history that may go on and tells
 * nothing of those turns, or none, with the turns behind it verbatim. Statements are derived again only
 * where that makes at most `readAgainTokens`; else the mended history stays. Undefined when the document of
 * the generation is missing.
 */
export async function readFoldSource(
  source: HistorySource,
  target: HistoryTarget,
  { readAgainTokens, forms }: { readAgainTokens: number; forms: OutputForms },
): Promise<FoldSource | undefined> {
  const { conversation } = target;
  const parts = await readContextParts(source, target);
  // The document of a generation stands before the conversation document names it; missing means the conversation
  // document is old.
  if (conversation.generation > 0 && parts.history === undefined) return undefined;
  const present = contextTokens({ conversation, ...parts }, forms);
  const unchanged = {
    ...parts,
    coveredThrough: conversation.coveredThrough,
    isReadAgain: false,
    present,
  };
  const throughSeq = parts.history && mayCoverThrough(parts.history);
  if (throughSeq === undefined) return unchanged;
  const history = await newestHistoryThrough(source, target, throughSeq);
  const coveredThrough = history?.coveredThrough ?? nothingCovered;
  const turns = await readTurnRange(source, {
    ...target,
    fromSeq: firstTailSeq({ coveredThrough }),
    toSeq: conversation.lastSeq,
  });
  const readAgain = {
    history,
    coveredThrough,
    isReadAgain: true,
    turns: turns.filter(({ state }) => isTerminal(state)),
    present,
  };
  // The summariser reads tool outputs in full.
  const wholeTokens = foldSourceTokens(conversation, readAgain, wholeOutputs(forms));
  const isReadAgain = parts.history?.isUnreadable || wholeTokens <= readAgainTokens;
  return isReadAgain ? readAgain : unchanged;
}
