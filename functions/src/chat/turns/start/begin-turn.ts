import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import type { Reservation } from '#shared/ports/quota-ports.ts';
import { startIndexLoad } from '#functions/chat/features/search/load-index.ts';
import { leaseFrom } from '../store/turn-store.ts';
import type { BegunTurn } from './begun-turn.ts';
import { commitBeginning } from './commit-start.ts';
import { conversationAtTurn, firstReplaced, readBefore, type Begin } from './context-before.ts';
import { firstConversation } from './first-conversation.ts';
import { keptRounds, progressAtStart } from './kept-rounds.ts';
import { preparePrompt } from './prepare-prompt.ts';
import { nextAttempt, reserveTurn, type ReservedTurn } from './reserve-turn.ts';
import { storedMessage, storedRouting } from './stored-message.ts';

/** A prompt that is larger by this than was reserved for it is reserved anew, tokens: as much as an answer is taken for. */
const RESERVED_ANEW_TOKENS = 500;

/** The reservation of a turn, once its prompt is known. Throws quota reasons, GuardLostError, StoreUnavailableError. */
async function reservedFor(
  reserving: Promise<ReservedTurn>,
  promptTokens: number,
): Promise<Reservation> {
  const { reservation, request } = await reserving;
  if (promptTokens > request.estimatedTokens + RESERVED_ANEW_TOKENS)
    await reservation.renew({ ...request, estimatedTokens: promptTokens, taken: undefined });
  return reservation;
}

/** Gives back what was reserved for a turn that does not begin. Nobody waits for that. */
function giveUp(
  { afterwork }: Pick<ChatDependencies, 'afterwork'>,
  reserving: Promise<ReservedTurn>,
): void {
  const release = reserving.then(
    ({ reservation }) => reservation.release(),
    () => undefined,
  );
  const work = release.finally(() => afterwork.delete(work));
  afterwork.add(work);
}

type Start = Versioned<Conversation> | { create: Conversation };

const asRead = (start: Start): Conversation => ('create' in start ? start.create : start.value);

/**
 * Begins a turn, takes one over, or begins one that waited: reads the context while the quota is reserved, refuses what
 * cannot fit, and makes all of it durable in one batch. `undefined`: what was read is no longer true, read again.
 * Throws GuardLostError, StoreUnavailableError, CONTEXT_WINDOW_WILL_OVERFLOW, and what the quota throws.
 */
export async function beginTurn(
  dependencies: ChatDependencies,
  begin: Begin,
): Promise<BegunTurn | undefined> {
  const { request, state } = begin;
  const start = state.conversation ?? {
    create: firstConversation(dependencies, request.caller, state.notes.revision),
  };
  const conversation = conversationAtTurn(dependencies.config, begin, asRead(start));
  const reserving = ignoreRejection(reserveTurn(dependencies, begin, conversation));
  let begun: BegunTurn | undefined;
  try {
    begun = await beginReserved(dependencies, begin, { start, reserving });
  } finally {
    if (!begun) giveUp(dependencies, reserving);
  }
  return begun;
}

async function beginReserved(
  dependencies: ChatDependencies,
  begin: Begin,
  { start, reserving }: { start: Start; reserving: Promise<ReservedTurn> },
): Promise<BegunTurn | undefined> {
  const { request, state, decision } = begin;
  const { conversationId } = request;
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
  const { call, tokens, memory, around, promptTokens } = prepared;
  const reservation = await reservedFor(reserving, promptTokens);
  await passCrashPoint(dependencies, 'turn-reserved');

  const now = dependencies.clock.now();
  const { conversation, history, turns, replacement, foldedInContext } = before;
  const { model } = conversation;
  const kept = await keptRounds(dependencies, conversationId, { decision, known, model });
  const routed = { ...message, routing: storedRouting(conversation, message, known?.value) };
  const lease = { producer, leaseUntil: leaseFrom(dependencies, now) };
  const noted = { replacement, lease, userTokens: tokens.user, model, now, kept, foldedInContext };
  const draft = { ...begin, ...around, ...noted, conversation: start, message: routed };
  const turnUpdateTime = await commitBeginning(dependencies, draft, before);
  const createTime = isNew ? now : (known?.value.createTime ?? now);
  return {
    attempt: { conversationId, seq, attempt: nextAttempt(begin), ...lease, turnUpdateTime },
    turn: { ...routed, ...around, createTime, replaces, foldedInContext },
    context: { conversation, nextModel: asRead(start).model, job, history, turns, memory },
    call,
    tokens,
    caller: request.caller,
    reservation,
    progress: progressAtStart({ decision, kept, known }),
    replacementRequest: replacement?.compactionRequest,
  };
}
