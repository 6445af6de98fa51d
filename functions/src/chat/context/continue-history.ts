import type { Head } from '#shared/conversation/documents/head.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import { continuedHistory, nothingCovered } from '#shared/conversation/writes/next-generation.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import {
  firstTailSeq,
  readContextParts,
  readTurnRange,
} from '#shared/conversation/context/read-conversation.ts';
import { signedHistory } from '#shared/conversation/context/signed-history.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import { GuardLostError } from '#shared/errors.ts';
import { selectOutputForms } from '#functions/context/snapshot-rendering.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** The context before the change. */
interface Present {
  history: History | undefined;
  turns: Turn[];
  tokens: number;
}

interface Conversation {
  conversationId: string;
  head: Head;
}

type ReadDependencies = Pick<
  ChatDependencies,
  'store' | 'cache' | 'signer' | 'logger' | 'config' | 'sha256'
>;

/** Throws GuardLostError when the conversation moved on while it was read: read again. */
export async function readPresent(
  dependencies: ReadDependencies,
  { conversationId, head }: Conversation,
): Promise<Present> {
  const { generation } = head;
  const parts = await readContextParts(dependencies, { conversationId, head });
  if (generation > 0 && !parts.history)
    throw new GuardLostError({ paths: [historyPath(conversationId, generation)] });
  const forms = selectOutputForms(dependencies, head);
  const { tokens } = contextTokens({ head, ...parts }, forms);
  return { ...parts, tokens };
}

/** The terminal turns behind `source`, as the head that was read shows them. */
async function tailAfter(
  dependencies: ReadDependencies,
  { conversationId, head }: Conversation,
  { source, toSeq }: { source: History | undefined; toSeq: number },
): Promise<Turn[]> {
  const coveredThrough = source?.coveredThrough ?? nothingCovered;
  const turns = await readTurnRange(dependencies, {
    conversationId,
    head,
    fromSeq: firstTailSeq({ ...head, coveredThrough }),
    toSeq,
  });
  return turns.filter(({ state }) => isTerminal(state));
}

interface Continuation {
  history: History;
  /** The turns behind it. */
  turns: Turn[];
  /** The head in the new generation; what else changes in it is the caller's affair. */
  headAfter: Head;
  tokens: number;
}

/**
 * The next generation made of `source`, or of no history, signed, and what the context then weighs. The
 * tail ends with `toSeq`, by default with the last turn; `left` says what becomes of a turn of it; `afterTokens`
 * what re-arming counts from.
 */
export async function continueHistory(
  dependencies: ReadDependencies & Pick<ChatDependencies, 'clock'>,
  { conversationId, head }: Conversation,
  next: Pick<
    Parameters<typeof continuedHistory>[0],
    | 'source'
    | 'state'
    | 'changedSeqs'
    | 'changedFromSeq'
    | 'erasedSeqs'
    | 'requestId'
    | 'by'
    | 'restoredFrom'
  > & {
    present: Pick<Present, 'tokens'>;
    toSeq?: number;
    left?: (turn: Turn) => Turn;
    afterTokens: (tokens: number) => number;
  },
): Promise<Continuation> {
  const { present, toSeq = head.lastSeq, afterTokens, ...described } = next;
  const { left = (turn: Turn) => turn, ...made } = described;
  const tail = { source: next.source, toSeq };
  const turns = (await tailAfter(dependencies, { conversationId, head }, tail)).map((turn) =>
    left(turn),
  );
  const history = continuedHistory({
    ...made,
    head,
    now: dependencies.clock.now(),
    beforeTokens: present.tokens,
    afterTokens: 0,
  });
  const { generation, coveredThrough } = history;
  const headAfter = { ...head, generation, coveredThrough, changedIn: generation };
  const forms = selectOutputForms(dependencies, headAfter);
  const { tokens } = contextTokens({ head: headAfter, history, turns }, forms);
  const measured = { ...history, afterTokens: afterTokens(tokens) };
  const signed = signedHistory(dependencies.signer, conversationId, measured);
  return { history: signed, turns, headAfter, tokens };
}
