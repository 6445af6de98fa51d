import { wholeOutputs, type OutputForms } from '#shared/compaction/sent-outputs.ts';
import type { CoveredThrough, Conversation } from '../documents/conversation.ts';
import type { History } from '../documents/history.ts';
import { isTerminal, type Turn } from '../documents/turn.ts';
import { nothingCovered } from '../writes/next-generation.ts';
import { newestHistoryThrough } from './find-history.ts';
import { contextTokens } from './meter.ts';
import {
  firstTailSeq,
  readContextParts,
  readTurnRange,
  type HistorySource,
} from './read-conversation.ts';

/** What a compaction starts from. */
export interface FoldingBase {
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

interface Of {
  conversationId: string;
  conversation: Conversation;
}

/** The last turn that the base of a compaction may cover; undefined: the present history will do. */
function lastCovered({ isUnreadable, rederiveFrom, coveredThrough }: History): number | undefined {
  if (isUnreadable) return coveredThrough.seq;
  return rederiveFrom === undefined ? undefined : rederiveFrom - 1;
}

async function readBehind(
  source: HistorySource,
  { conversationId, conversation }: Of,
  history: History | undefined,
): Promise<Omit<FoldingBase, 'present'>> {
  const coveredThrough = history?.coveredThrough ?? nothingCovered;
  const fromSeq = firstTailSeq({ ...conversation, coveredThrough });
  const toSeq = conversation.lastSeq;
  const turns = await readTurnRange(source, { conversationId, conversation, fromSeq, toSeq });
  return {
    history,
    coveredThrough,
    isReadAgain: true,
    turns: turns.filter(({ state }) => isTerminal(state)),
  };
}

/** Calibrated estimate of what the base makes. */
export const baseTokens = (
  conversation: Conversation,
  base: Pick<FoldingBase, 'history' | 'turns'>,
  forms: OutputForms,
): number =>
  contextTokens(
    {
      ...base,
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
export async function readFoldingBase(
  source: HistorySource,
  target: Of,
  { readAgainTokens, forms }: { readAgainTokens: number; forms: OutputForms },
): Promise<FoldingBase | undefined> {
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
  const throughSeq = parts.history && lastCovered(parts.history);
  if (throughSeq === undefined) return unchanged;
  const base = await readBehind(
    source,
    target,
    await newestHistoryThrough(source, target, throughSeq),
  );
  // The summariser reads outputs whole.
  const wholeTokens = baseTokens(conversation, base, wholeOutputs(forms));
  const isReadAgain = parts.history?.isUnreadable || wholeTokens <= readAgainTokens;
  return isReadAgain ? { ...base, present } : unchanged;
}
