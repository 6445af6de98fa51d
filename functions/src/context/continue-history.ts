import { contextTokens } from '#shared/conversation/context/meter.ts';
import {
  type HistorySource,
  firstTailSeq,
  readContextParts,
  readTurnRange,
} from '#shared/conversation/context/read-conversation.ts';
import { type Conversation, nothingCovered } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { type Turn, isTerminal } from '#shared/conversation/documents/turn.ts';
import { continuedHistory, rearmsFrom } from '#shared/conversation/writes/next-generation.ts';
import { GuardLostError } from '#shared/lib/errors.ts';
import type { Clock } from '#shared/ports/ports.ts';
import { type Viewing, selectOutputForms } from './next-call.ts';

/** The context before the change. */
export interface Present {
  history: History | undefined;
  turns: Turn[];
  tokens: number;
}

interface ReadConversation {
  conversationId: string;
  conversation: Conversation;
}

type ReadDependencies = HistorySource & Viewing;

/** Throws GuardLostError when the conversation moved on while it was read: read again. */
export async function readPresent(
  dependencies: ReadDependencies,
  { conversationId, conversation }: ReadConversation,
): Promise<Present> {
  const { generation } = conversation;
  const parts = await readContextParts(dependencies, { conversationId, conversation });
  if (generation > 0 && !parts.history)
    throw new GuardLostError({ paths: [historyPath(conversationId, generation)] });
  const forms = selectOutputForms(dependencies, conversation);
  const { tokens } = contextTokens({ conversation, ...parts }, forms);
  return { ...parts, tokens };
}

/** The terminal turns behind `source`, as the conversation document that was read shows them. */
async function tailAfter(
  dependencies: ReadDependencies,
  { conversationId, conversation }: ReadConversation,
  { source, toSeq }: { source: History | undefined; toSeq: number },
): Promise<Turn[]> {
  const coveredThrough = source?.coveredThrough ?? nothingCovered;
  const turns = await readTurnRange(dependencies, {
    conversationId,
    conversation,
    fromSeq: firstTailSeq({ ...conversation, coveredThrough }),
    toSeq,
  });
  return turns.filter(({ state }) => isTerminal(state));
}

interface Continuation {
  history: History;
  /** The turns behind it. */
  turns: Turn[];
  /** The conversation document in the new generation; what else changes in it is the caller's affair. */
  conversationAfter: Conversation;
  tokens: number;
}

/** The next generation made of `source`, or of no history, and what the context then weighs. */
export async function continueHistory(
  dependencies: ReadDependencies & { clock: Pick<Clock, 'now'> },
  { conversationId, conversation }: ReadConversation,
  next: Pick<
    Parameters<typeof continuedHistory>[0],
    'source' | 'state' | 'changedFromSeq' | 'erasedSeqs' | 'requestId' | 'by' | 'restoredFrom'
  > & {
    present: Pick<Present, 'history' | 'tokens'>;
    /** Last turn of the tail; default: of the conversation. */
    toSeq?: number;
    /** What becomes of a turn of the tail; default: it stays as it is. */
    changeTurn?: (turn: Turn) => Turn;
    /** Tokens that re-arming counts from; default: those of the context that a restore makes, else as `rearmsFrom` says. */
    afterTokens?: number;
  },
): Promise<Continuation> {
  const { present, toSeq = conversation.lastSeq, changeTurn, ...generationMade } = next;
  const { source, state } = next;
  const read = { conversationId, conversation };
  const tail = await tailAfter(dependencies, read, { source, toSeq });
  const turns = changeTurn ? tail.map((turn) => changeTurn(turn)) : tail;
  const history = continuedHistory({
    ...generationMade,
    conversation,
    now: dependencies.clock.now(),
    beforeTokens: present.tokens,
    afterTokens: 0,
  });
  const { generation, coveredThrough } = history;
  const conversationAfter = { ...conversation, generation, coveredThrough, changedIn: generation };
  const forms = selectOutputForms(dependencies, conversationAfter);
  const { tokens } = contextTokens({ conversation: conversationAfter, history, turns }, forms);
  const { declined } = conversation.compactionRequests;
  const rearmsAt =
    state === 'RESTORED'
      ? tokens
      : rearmsFrom({ source, present: present.history, declined, tokens });
  const afterTokens = next.afterTokens ?? rearmsAt;
  return { history: { ...history, afterTokens }, turns, conversationAfter, tokens };
}
