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
import { endsBefore, rearmsFrom } from '#shared/conversation/writes/next-generation.ts';
import { isRouted } from '#shared/models/routing.ts';
import { messageReplacedError } from '../send/send-errors.ts';
import type { Begin } from './begun-turn.ts';

/** Loaded when an edit needs it: it brings the finders of facts, which no message needs. */
const loadRendering = () => import('#functions/context/snapshot-rendering.ts');

/** The context that the turn answers from, and what its batch changes of it. */
export interface ContextBefore {
  conversation: Conversation;
  history: History | undefined;
  turns: readonly Turn[];
  replacement: PlannedReplacement | undefined;
  /** Of a turn whose place a compaction has folded: whether it is in that context; it stays so. */
  foldedInContext: boolean | undefined;
}

interface PlannedReplacement extends Replacement {
  /** The conversation document as the batch leaves it. */
  conversationAfter: Conversation;
  /** Terminal turns of the new context, all before the replaced ones. */
  turns: Turn[];
}

/** First of the turns that this one stands in for. */
export const firstReplaced = ({ state, decision }: Begin): number | undefined =>
  decision.kind === 'start' ? decision.replaces : state.known?.value.replaces;

/** The conversation document as the turn sees it: with the model that it begins with, or has begun with. */
export function conversationAtTurn(
  config: Config,
  { request, state, decision }: Begin,
  conversation: Conversation,
): Conversation {
  const model =
    (decision.kind === 'start' ? request.added?.model : undefined) ??
    turnModel(conversation.model, state.known?.value);
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

/**
 * Reads the context, and where the turn replaces others the one without them; undefined: the conversation document
 * moved on while it was read. Throws MESSAGE_REPLACED.
 */
export async function readBefore(
  dependencies: ChatDependencies,
  begin: Begin,
  input: { conversation: Conversation; by: string },
): Promise<ContextBefore | undefined> {
  const { request, state, decision } = begin;
  const { conversationId } = request;
  const conversation = conversationAtTurn(dependencies.config, begin, input.conversation);
  const parts = await readContextParts(dependencies, {
    conversationId,
    conversation,
    toSeq: decision.seq - 1,
  });
  if (conversation.generation > 0 && parts.history === undefined) return undefined;
  const { history, turns } = parts;
  const fromSeq = firstReplaced(begin);
  // What a turn that has begun before replaces is replaced.
  const isGoingOn = decision.kind === 'takeOver' || decision.kind === 'resume';
  if (fromSeq === undefined || isGoingOn) {
    const foldedInContext = foldedInContextOf(begin, conversation);
    return { conversation, history, turns, replacement: undefined, foldedInContext };
  }
  // While an edit waited, another one may have taken the place of the same message.
  const { replacing } = state.facts;
  if (replacing?.target && isReplaced(replacing.target))
    throw messageReplacedError(request.replacing?.messageId ?? '');
  const present = { conversationId, conversation, history, turns };
  const replacement = await planReplacement(dependencies, present, { fromSeq, by: input.by });
  return {
    conversation: replacement.conversationAfter,
    history: replacement.history,
    turns: replacement.turns,
    replacement,
    // Folded is no more than what stands before the replaced turns.
    foldedInContext: undefined,
  };
}

/** The context of the present generation. */
interface PresentContext {
  conversationId: string;
  conversation: Conversation;
  history: History | undefined;
  turns: readonly Turn[];
}

/**
 * The present history without what came of the replaced turns, or, where nothing is left of it, the newest
 * earlier one that ends before them.
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
 * What it takes to put a new turn in the place of the turns from `fromSeq` on: the next generation, made of the history
 * before them. `by`: nonce of the writer.
 */
async function planReplacement(
  dependencies: ChatDependencies,
  context: PresentContext,
  { fromSeq, by }: { fromSeq: number; by: string },
): Promise<PlannedReplacement> {
  const { conversation, history: present } = context;
  const source = await historyBefore(dependencies, context, fromSeq);
  const pins = withoutPinsFrom(conversation.pins, (seq) => seq >= fromSeq);
  const left = { ...context, conversation: { ...conversation, pins } };
  const next = await continueHistory(dependencies, left, {
    source,
    present: contextTokens(context, selectOutputForms(dependencies, conversation)),
    toSeq: fromSeq - 1,
    state: 'CHANGED',
    changedFromSeq: fromSeq,
    requestId: by,
    by,
    afterTokens: (tokens) =>
      rearmsFrom({ source, present, declined: conversation.compactionRequests.declined, tokens }),
  });
  const { history, turns, tokens, conversationAfter } = next;
  // Turns that were folded stand verbatim again, or are to be read again: they may need folding at once.
  const isOther = source?.generation !== present?.generation || source?.mended === true;
  const compactionRequest = isOther
    ? requestAfterChange(dependencies, { conversation: conversationAfter, history, tokens })
    : undefined;
  const losesPins = pins.length < conversation.pins.length;
  const losesIndex = (conversation.indexedThrough ?? 0) >= fromSeq;
  const planned = {
    fromSeq,
    history,
    turns,
    conversationAfter,
    ...(losesPins && { pins }),
    ...(losesIndex && { indexedThrough: fromSeq - 1 }),
  };
  if (!compactionRequest) return planned;
  const compactionRequests = { ...conversationAfter.compactionRequests, auto: compactionRequest };
  return {
    ...planned,
    conversationAfter: { ...conversationAfter, compactionRequests },
    compactionRequest,
  };
}
