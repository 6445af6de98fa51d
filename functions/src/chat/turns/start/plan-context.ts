import { withoutPinsFrom } from '#shared/conversation/context/pins.ts';
import { withoutTurns } from '#shared/conversation/writes/erased-history.ts';
import { type Replacement, isReplaced } from '#shared/conversation/writes/replacement.ts';
import { requestAfterChange } from '#functions/chat/context/change-generation.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { Config } from '#functions/config.ts';
import { modelThatLimits } from '#functions/config/conversation-policy.ts';
import { continueHistory } from '#functions/context/continue-history.ts';
import { selectOutputForms } from '#functions/context/next-call.ts';
import {
  newestHistoryThrough,
  readableHistory,
} from '#shared/conversation/context/find-history.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import { firstTailSeq, readContextParts } from '#shared/conversation/context/read-conversation.ts';
import { turnModel, type Turn, isTerminal } from '#shared/conversation/documents/turn.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { endsBefore } from '#shared/conversation/writes/next-generation.ts';
import { isRouted } from '#shared/models/routing.ts';
import { messageReplacedError } from '../turn-errors.ts';
import type { TurnToBegin } from './begun-turn.ts';

/** Loaded when an edit needs it: it brings the finders of facts, which no message needs. */
const loadRendering = () => import('#functions/context/snapshot-rendering.ts');

/** The context that the turn answers from, and what the batch with which it begins changes of it. */
export interface PlannedContext {
  /** As the batch leaves it. */
  conversation: Conversation;
  history: History | undefined;
  turns: readonly Turn[];
  /** What of it the turn takes the place of. */
  replacement: Replacement | undefined;
  /** Of a turn whose place a compaction has folded: whether it was folded into the context; it stays so. */
  foldedInContext: boolean | undefined;
}

/** First of the turns that this one stands in for. */
export const firstReplaced = ({ state, decision }: TurnToBegin): number | undefined =>
  decision.kind === 'start' ? decision.replaces : state.known?.value.replaces;

/** The conversation document as the turn sees it: with the model of the turn. */
export function conversationAtTurn(
  config: Config,
  { request, state, decision }: TurnToBegin,
  conversation: Conversation,
): Conversation {
  const model =
    (decision.kind === 'start' ? request.added?.model : undefined) ??
    turnModel(conversation.model, state.known?.value);
  // Where the deployment no longer chooses models, its own model answers an `auto` turn. A retired model is answered
  // for by its successor. The turn stores the model that answers; the conversation keeps its own.
  const isChosen = isRouted(model) && config.routing !== undefined;
  return { ...conversation, model: isChosen ? model : modelThatLimits(config, model) };
}

function foldedInContextOf(
  { state: { known } }: TurnToBegin,
  conversation: Conversation,
): boolean | undefined {
  if (!known || known.value.seq >= firstTailSeq(conversation)) return undefined;
  return isTerminal(known.value.state) ? known.value.inContext : known.value.foldedInContext;
}

/**
 * Reads the context. Where the turn replaces others, plans the context without them. Undefined: the conversation got
 * another generation while it was read. Throws MESSAGE_REPLACED.
 */
export async function planContext(
  dependencies: ChatDependencies,
  toBegin: TurnToBegin,
  input: { conversation: Conversation; by: string },
): Promise<PlannedContext | undefined> {
  const { request, state, decision } = toBegin;
  const { conversationId } = request;
  const conversation = conversationAtTurn(dependencies.config, toBegin, input.conversation);
  const parts = await readContextParts(dependencies, {
    conversationId,
    conversation,
    toSeq: decision.seq - 1,
  });
  if (conversation.generation > 0 && parts.history === undefined) return undefined;
  const { history, turns } = parts;
  const fromSeq = firstReplaced(toBegin);
  // In a later batch there is nothing to replace: the first one has done it.
  const isFirstBatch = decision.kind === 'start' || decision.kind === 'beginQueued';
  if (fromSeq === undefined || !isFirstBatch) {
    const foldedInContext = foldedInContextOf(toBegin, conversation);
    return { conversation, history, turns, replacement: undefined, foldedInContext };
  }
  // While an edit waited, another one may have taken the place of the same message.
  const { replacing } = state.facts;
  if (replacing?.target && isReplaced(replacing.target))
    throw messageReplacedError(request.replacing?.messageId ?? '');
  const present = { conversationId, conversation, history, turns };
  return planReplacement(dependencies, present, { fromSeq, by: input.by });
}

/** The context of the present generation. */
interface PresentContext {
  conversationId: string;
  conversation: Conversation;
  history: History | undefined;
  turns: readonly Turn[];
}

/**
 * The present history without what it holds of the replaced turns; where nothing would be left, the newest earlier one
 * that ends before them.
 */
async function historyBefore(
  dependencies: ChatDependencies,
  { conversationId, conversation, history }: PresentContext,
  fromSeq: number,
): Promise<History | undefined> {
  const target = { conversationId, conversation };
  const present = await readableHistory(dependencies, target, history);
  if (!present || endsBefore(present, fromSeq)) return present;
  const { createRenderer } = await loadRendering();
  const render = createRenderer(dependencies.config, conversation);
  const mended = withoutTurns(present, { seqs: [], fromSeq }, render);
  if (mended.erased !== true) return mended;
  return newestHistoryThrough(dependencies, target, fromSeq - 1);
}

/**
 * Plans the next generation, in which a new turn takes the place of the turns from `fromSeq` on: it continues the
 * history before them. `by`: nonce of the writer.
 */
async function planReplacement(
  dependencies: ChatDependencies,
  context: PresentContext,
  { fromSeq, by }: { fromSeq: number; by: string },
): Promise<PlannedContext> {
  const { conversation, history: present } = context;
  const source = await historyBefore(dependencies, context, fromSeq);
  const pins = withoutPinsFrom(conversation.pins, (seq) => seq >= fromSeq);
  const { tokens } = contextTokens(context, selectOutputForms(dependencies, conversation));
  const unpinned = { ...context, conversation: { ...conversation, pins } };
  const next = await continueHistory(dependencies, unpinned, {
    source,
    present: { history: present, tokens },
    toSeq: fromSeq - 1,
    state: 'CHANGED',
    changedFromSeq: fromSeq,
    requestId: by,
    by,
  });
  const { history, turns, conversationAfter } = next;
  // Folded turns stand verbatim again, or are to be folded anew: the context may be over its threshold at once.
  const isOther = source?.generation !== present?.generation || source?.mended === true;
  const compactionRequest = isOther
    ? requestAfterChange(dependencies, {
        conversation: conversationAfter,
        history,
        tokens: next.tokens,
      })
    : undefined;
  const losesPins = pins.length < conversation.pins.length;
  const losesIndex = (conversation.indexedThrough ?? 0) >= fromSeq;
  const { compactionRequests } = conversationAfter;
  return {
    conversation: compactionRequest
      ? {
          ...conversationAfter,
          compactionRequests: { ...compactionRequests, auto: compactionRequest },
        }
      : conversationAfter,
    history,
    turns,
    replacement: {
      fromSeq,
      history,
      ...(losesPins && { pins }),
      ...(losesIndex && { indexedThrough: fromSeq - 1 }),
      ...(compactionRequest && { compactionRequest }),
    },
    // The new context ends before the replaced turns, so this turn stands behind all that is folded.
    foldedInContext: undefined,
  };
}
