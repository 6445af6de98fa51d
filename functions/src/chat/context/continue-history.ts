import type { Head } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import { contextTokens } from '../../../../shared/conversation/meter.ts';
import { continuedHistory } from '../../../../shared/conversation/next-generation.ts';
import { historyPath } from '../../../../shared/conversation/paths.ts';
import {
  firstTailSeq,
  readContextParts,
  readTurnRange,
} from '../../../../shared/conversation/read-conversation.ts';
import { isTerminal, type Turn } from '../../../../shared/conversation/turn.ts';
import { GuardLostError } from '../../../../shared/errors.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { OwnConversation } from '../conversation/own-conversation.ts';

/** The context before the change. */
export interface Present {
  history: History | undefined;
  tokens: number;
}

type ReadDependencies = Pick<ChatDependencies, 'store' | 'cache'>;

/** Throws GuardLostError when the conversation moved on while it was read: read again. */
export async function readPresent(
  dependencies: ReadDependencies,
  { conversationId, head }: OwnConversation,
): Promise<Present> {
  const { generation } = head.value;
  const parts = await readContextParts(dependencies, { conversationId, head: head.value });
  if (generation > 0 && !parts.history)
    throw new GuardLostError({ paths: [historyPath(conversationId, generation)] });
  return { history: parts.history, tokens: contextTokens({ head: head.value, ...parts }).tokens };
}

const nothingCovered = { seq: 0, contentIndex: 0 };

/** The terminal turns behind `source`, as the head that was read shows them. */
async function tailAfter(
  dependencies: ReadDependencies,
  { conversationId, head }: OwnConversation,
  source: History | undefined,
): Promise<Turn[]> {
  const coveredThrough = source?.coveredThrough ?? nothingCovered;
  const turns = await readTurnRange(dependencies, {
    conversationId,
    head: head.value,
    fromSeq: firstTailSeq({ ...head.value, coveredThrough }),
    toSeq: head.value.lastSeq,
  });
  return turns.filter(({ state }) => isTerminal(state));
}

export interface Continuation {
  history: History;
  /** The head in the new generation; what else changes in it is the caller's affair. */
  headAfter: Head;
  tokens: number;
}

/**
 * The next generation made of `source`, or of no history, and what the context then weighs.
 * `left` says what becomes of a turn of the tail; `afterTokens` what re-arming counts from.
 */
export async function continueHistory(
  dependencies: ReadDependencies & Pick<ChatDependencies, 'clock'>,
  own: OwnConversation,
  next: Pick<
    Parameters<typeof continuedHistory>[0],
    'source' | 'state' | 'changedSeqs' | 'changedFromSeq' | 'requestId' | 'by' | 'restoredFrom'
  > & {
    present: Present;
    left?: (turn: Turn) => Turn;
    afterTokens: (tokens: number) => number;
  },
): Promise<Continuation> {
  const head = own.head.value;
  const { present, left = (turn: Turn) => turn, afterTokens, ...described } = next;
  const turns = (await tailAfter(dependencies, own, next.source)).map((turn) => left(turn));
  const history = continuedHistory({
    ...described,
    head,
    now: dependencies.clock.now(),
    beforeTokens: present.tokens,
    afterTokens: 0,
  });
  const { generation, coveredThrough } = history;
  const headAfter = { ...head, generation, coveredThrough, changedIn: generation };
  const { tokens } = contextTokens({ head: headAfter, history, turns });
  return { history: { ...history, afterTokens: afterTokens(tokens) }, headAfter, tokens };
}
