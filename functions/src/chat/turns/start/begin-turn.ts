import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { startIndexLoad } from '#functions/chat/features/search/load-index.ts';
import { leaseFrom } from '../store/turn-store.ts';
import type { BegunTurn } from './begun-turn.ts';
import { commitBeginning } from './commit-start.ts';
import { firstReplaced, readBefore, type Begin } from './context-before.ts';
import { firstConversation } from './first-conversation.ts';
import { keptRounds, progressAtStart } from './kept-rounds.ts';
import { nextAttempt, preparePrompt } from './prepare-prompt.ts';
import { storedMessage, storedRouting } from './stored-message.ts';

/**
 * Begins a turn, takes one over, or begins one that waited: reads the context, refuses what cannot fit, and
 * makes all of it durable in one batch. `undefined`: what was read is no longer true, read again.
 * Throws GuardLostError, StoreUnavailableError, CONTEXT_WINDOW_WILL_OVERFLOW, and what the quota throws.
 */
export async function beginTurn(
  dependencies: ChatDependencies,
  begin: Begin,
): Promise<BegunTurn | undefined> {
  const { request, state, decision } = begin;
  const { conversationId } = request;
  const { seq } = decision;
  const { job, known, notes } = state;
  const start = state.conversation ?? {
    create: firstConversation(dependencies, request.caller, notes.revision),
  };
  const producer = dependencies.randomness.uuid();
  const asRead = 'create' in start ? start.create : start.value;
  const index = startIndexLoad(dependencies, { request, conversation: asRead });
  const before = await readBefore(dependencies, begin, { conversation: asRead, by: producer });
  if (!before) return undefined;
  const replaces = firstReplaced(begin);
  const isNew = decision.kind === 'start';
  const stored = { storedSeq: isNew ? (replaces ?? seq) : seq, isNew };
  const message = await storedMessage(dependencies, request, stored);
  const input = { before, message, conversation: start, index };
  const { call, tokens, quota, memory, around } = await preparePrompt(dependencies, begin, input);

  const now = dependencies.clock.now();
  const { conversation, history, turns, replacement, foldedInContext } = before;
  const { model } = conversation;
  const kept = await keptRounds(dependencies, conversationId, { decision, known, model });
  const routed = { ...message, routing: storedRouting(conversation, message, known?.value) };
  const lease = { producer, leaseUntil: leaseFrom(dependencies, now) };
  const noted = { replacement, lease, userTokens: tokens.user, model, now, kept, foldedInContext };
  const draft = { ...begin, ...around, ...noted, conversation: start, message: routed };
  const { reservation } = quota;
  const turnUpdateTime = await commitBeginning(dependencies, draft, { before, reservation });
  const createTime = isNew ? now : (known?.value.createTime ?? now);
  return {
    attempt: { conversationId, seq, attempt: nextAttempt(begin), producer, turnUpdateTime },
    turn: { ...routed, ...around, createTime, replaces, foldedInContext },
    context: { conversation, nextModel: asRead.model, job, history, turns, memory },
    call,
    tokens,
    quota,
    progress: progressAtStart({ decision, kept, known }),
    replacementNeed: replacement?.need,
  };
}
