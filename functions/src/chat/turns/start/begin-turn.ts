import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { startIndexLoad } from '#functions/chat/features/recall-for-turn.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { leaseFrom } from '../store/turn-store.ts';
import type { Draft } from './begin-writes.ts';
import type { BegunTurn } from './begun-turn.ts';
import { commitBeginning } from './commit-start.ts';
import { conversationAtTurn, firstReplaced, readBefore, type Begin } from './context-before.ts';
import { firstConversation } from './first-conversation.ts';
import { keptRounds, progressAtStart } from './kept-rounds.ts';
import { preparePrompt } from './prepare-prompt.ts';
import { holdQuota, nextAttempt, type HeldQuota } from './reserve-turn.ts';
import { storedMessage, storedRouting } from './stored-message.ts';

type Start = Versioned<Conversation> | { create: Conversation };

const asRead = (start: Start): Conversation => ('create' in start ? start.create : start.value);

/**
 * One of the tries to begin a turn, to take one over, or to begin one that waited: reads the context while the quota is
 * reserved, refuses what cannot fit, and makes all of it durable in one batch. `undefined`: what was read is no longer
 * true, read again. Throws GuardLostError, StoreUnavailableError, CONTEXT_WINDOW_WILL_OVERFLOW, and what the quota throws.
 */
export async function tryToBegin(
  dependencies: ChatDependencies,
  begin: Begin,
  held: HeldQuota,
): Promise<BegunTurn | undefined> {
  const { request, state, decision } = begin;
  const { conversationId } = request;
  const start = state.conversation ?? {
    create: firstConversation(dependencies, request.caller, state.notes.revision),
  };
  held.begin(begin, conversationAtTurn(dependencies.config, begin, asRead(start)));
  const { seq } = decision;
  const { job, known } = state;
  const producer = dependencies.randomness.uuid();
  const index = startIndexLoad(dependencies, { request, conversation: asRead(start) });
  const before = await readBefore(dependencies, begin, {
    conversation: asRead(start),
    by: producer,
  });
  if (!before) return undefined;
  const replaces = firstReplaced(begin);
  const isNew = decision.kind === 'start';
  const stored = { storedSeq: isNew ? (replaces ?? seq) : seq, isNew };
  const message = await storedMessage(dependencies, request, stored);
  const input = { before, message, conversation: start, index };
  const prepared = await preparePrompt(dependencies, begin, input);
  const { call, tokens, memory, turnContext, promptTokens } = prepared;
  const reservation = await held.reserved(promptTokens);
  await passCrashPoint(dependencies, 'turn-reserved');

  const now = dependencies.clock.now();
  const { conversation, history, turns, replacement, foldedInContext } = before;
  const { model } = conversation;
  const kept = await keptRounds(dependencies, conversationId, { decision, known, model });
  const routed = { ...message, routing: storedRouting(conversation, message, known?.value) };
  const lease = { producer, leaseUntil: leaseFrom(dependencies, now) };
  const draft: Draft = {
    ...begin,
    ...turnContext,
    conversation: start,
    message: routed,
    replacement,
    lease,
    model,
    userTokens: tokens.user,
    foldedInContext,
    now,
    kept,
  };
  const turnUpdateTime = await commitBeginning(dependencies, draft, before);
  held.handOver();
  const createTime = isNew ? now : (known?.value.createTime ?? now);
  return {
    attempt: { conversationId, seq, attempt: nextAttempt(begin), ...lease, turnUpdateTime },
    turn: { ...routed, ...turnContext, createTime, replaces, foldedInContext },
    context: { conversation, nextModel: asRead(start).model, job, history, turns, memory },
    call,
    tokens,
    caller: request.caller,
    reservation,
    progress: progressAtStart({ decision, kept, known }),
    replacementRequest: replacement?.compactionRequest,
  };
}

/** The only try; what it has reserved is given back where it begins no turn. Throws the same. */
export async function beginTurn(
  dependencies: ChatDependencies,
  begin: Begin,
): Promise<BegunTurn | undefined> {
  const held = holdQuota(dependencies);
  try {
    return await tryToBegin(dependencies, begin, held);
  } finally {
    held.giveUp();
  }
}
