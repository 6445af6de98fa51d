import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { turnModel } from '#shared/conversation/context/turn-model.ts';
import { isReplaced } from '#shared/conversation/writes/replaced-by.ts';
import { firstTailSeq } from '#shared/conversation/context/read-conversation.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import { isRouted } from '#shared/routing/routing.ts';
import type { Config } from '#functions/config.ts';
import { modelThatLimits } from '#functions/config/conversation-policy.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { Beginning } from './kept-rounds.ts';
import { planReplacement, type PlannedReplacement } from './plan-replacement.ts';
import { readContextBefore, type StartState } from './read-start.ts';
import { messageReplacedError } from '../send/send-errors.ts';
import type { SendRequest } from '../send/send-request.ts';

/** A turn that is to begin: what asks for it, what was read, and what was decided. */
export interface Begin {
  request: SendRequest;
  state: StartState;
  decision: Beginning;
}

/** The context that the turn answers from, and what its batch changes of it. */
export interface ContextBefore {
  conversation: Conversation;
  history: History | undefined;
  turns: readonly Turn[];
  replacement: PlannedReplacement | undefined;
  /** Of a turn whose place a compaction has folded: whether it is in that context; it stays so. */
  foldedInContext: boolean | undefined;
}

/** First of the turns that this one stands in for. */
export const firstReplaced = ({ state, decision }: Begin): number | undefined =>
  decision.kind === 'start' ? decision.replaces : state.known?.value.replaces;

/** The conversation document as the turn sees it: with the model that it begins with, or has begun with. */
export function conversationAtTurn(
  config: Config,
  { state }: Begin,
  conversation: Conversation,
): Conversation {
  const model = turnModel(conversation.model, state.known?.value);
  // Where nothing is chosen any more, the deployment's model answers, and for a retired one its successor: the turn
  // notes that one, the conversation keeps what it has.
  const isChosen = isRouted(model) && config.routing !== undefined;
  return { ...conversation, model: isChosen ? model : modelThatLimits(config, model) };
}

function foldedInContextOf(
  { state: { known } }: Begin,
  conversation: Conversation,
): boolean | undefined {
  if (!known || known.value.seq >= firstTailSeq(conversation)) return undefined;
  return isTerminal(known.value.state) ? known.value.inContext : known.value.foldedInContext;
}

/** The turn has begun before: what it replaces is replaced. */
const isGoingOn = ({ decision }: Begin): boolean =>
  decision.kind === 'takeOver' || decision.kind === 'resume';

/**
 * Reads the context, and where the turn replaces others the one without them; undefined: the conversation document
 * moved on while it was read. Throws MESSAGE_REPLACED.
 */
export async function readBefore(
  dependencies: ChatDependencies,
  begin: Begin,
  input: { conversation: Conversation; by: string },
): Promise<ContextBefore | undefined> {
  const { conversationId } = begin.request;
  const { by } = input;
  const conversation = conversationAtTurn(dependencies.config, begin, input.conversation);
  const beforeSeq = begin.decision.seq;
  const parts = await readContextBefore(dependencies, { conversationId, conversation, beforeSeq });
  if (!parts) return undefined;
  const fromSeq = firstReplaced(begin);
  if (fromSeq === undefined || isGoingOn(begin)) {
    const foldedInContext = foldedInContextOf(begin, conversation);
    return { conversation, ...parts, replacement: undefined, foldedInContext };
  }
  // While an edit waited, another one may have taken the place of the same message.
  const { replacing } = begin.state.facts;
  if (replacing?.target && isReplaced(replacing.target))
    throw messageReplacedError(conversationId, begin.request.replacing?.messageId ?? '');
  const asked = { conversationId, conversation, ...parts, fromSeq, by };
  const replacement = await planReplacement(dependencies, asked);
  const { conversationAfter, history, turns } = replacement;
  // Folded is no more than what stands before the replaced turns.
  return {
    conversation: conversationAfter,
    history,
    turns,
    replacement,
    foldedInContext: undefined,
  };
}
