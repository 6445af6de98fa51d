import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { namedBy, namingWrites } from '#functions/chat/features/uploads.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import { shownUser } from '#shared/conversation/context/shown-user.ts';
import { queueAfter } from '#shared/conversation/decisions/queue-decision.ts';
import type { StartDecision } from '#shared/conversation/decisions/start-decision.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { enqueueWrites, waiterLeaseWrite } from '#shared/conversation/writes/queue-writes.ts';
import { AppError } from '#shared/errors.ts';
import { isPassingLimit } from '#shared/quota/quota-error.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import type { SendRequest } from '../send/send-request.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import { commitStart } from '../start/commit-start.ts';
import { refuseHopeless } from '../start/overflow.ts';
import type { StartState } from '../start/read-start.ts';
import { reservationRequest } from '../start/reserve-turn.ts';
import { storedMessage, regeneratedBy, storedRouting } from '../start/stored-message.ts';
import { newsOfClient, collectTurnContext } from '../start/turn-context.ts';
import { leaseFrom } from '../store/turn-store.ts';
import { waitInQueue } from './wait-in-queue.ts';
import { untilNextLook } from './watch-turns.ts';

interface Queued {
  request: SendRequest;
  state: StartState;
}

/** A message that waits, and what comes of it, as `waitInQueue` says. */
export interface WaitingTurn {
  seq: number;
  begun: Promise<BegunTurn | 'gone'>;
}

const newLease = (dependencies: ChatDependencies) => ({
  producer: dependencies.randomness.uuid(),
  leaseUntil: leaseFrom(dependencies),
});

function wait(
  dependencies: ChatDependencies,
  request: SendRequest,
  turn: { seq: number; producer: string; crashPoint: 'turn-queued' | 'turn-rejoined' },
): WaitingTurn {
  const { seq, producer, crashPoint } = turn;
  const begun = passCrashPoint(dependencies, crashPoint).then(() =>
    waitInQueue(dependencies, { request, seq, producer }),
  );
  return { seq, begun };
}

/**
 * Refuses a message that is to wait in the queue, before anything is stored, where a limit stands in its way that it
 * cannot wait for: one of the day. Nothing is reserved. Throws quota reasons, StoreUnavailableError.
 */
async function refuseOverDayLimit(
  dependencies: Pick<ChatDependencies, 'quota' | 'config'>,
  request: SendRequest,
  { conversation, estimatedTokens }: { conversation: Conversation; estimatedTokens: number },
): Promise<void> {
  const { model } = conversation;
  const call = { model, attempt: 1, estimatedTokens };
  try {
    await dependencies.quota.refuse(reservationRequest(dependencies, request, call));
  } catch (error) {
    if (!(error instanceof AppError && isPassingLimit(error))) throw error;
  }
}

/**
 * Stores a message behind those that are being answered or wait, and waits with it. Throws the quota reasons of limits
 * that it cannot wait for, CONTEXT_WINDOW_WILL_OVERFLOW, GuardLostError, StoreUnavailableError.
 */
async function queueTurn(
  dependencies: ChatDependencies,
  { request, state }: Queued,
  decision: Extract<StartDecision, { kind: 'enqueue' }>,
): Promise<WaitingTurn> {
  refuseHopeless(dependencies, request, state.conversation);
  const { conversationId } = request;
  const { seq, replaces } = decision;
  if (!state.conversation)
    throw new Error('a message waits behind others, so there is a conversation');
  const lease = newLease(dependencies);
  const { producer, leaseUntil } = lease;
  const message = await storedMessage(dependencies, request, {
    storedSeq: replaces ?? seq,
    isNew: true,
  });
  // What the turns before will have told is not known yet: all is told, with the time at which it was said.
  const turnContext = collectTurnContext(dependencies, request, {
    generation: state.conversation.value.generation,
    turns: [],
    known: state.conversation.value.client,
  });
  const shown = shownUser({ ...message, ...turnContext });
  const userTokens = estimateContentTokens(shown, meterCounting(state.conversation.value));
  const conversation = state.conversation.value;
  await refuseOverDayLimit(dependencies, request, { conversation, estimatedTokens: userTokens });
  const writes = enqueueWrites({
    conversationId,
    messageId: request.message.id,
    bodyHash: state.facts.bodyHash,
    seq,
    ...message,
    routing: storedRouting(state.conversation.value, message),
    ...turnContext,
    client: newsOfClient(state.conversation.value.client, request),
    replaces,
    regenerates: regeneratedBy(request, replaces),
    userTokens,
    lease,
    now: dependencies.clock.now(),
    conversation: state.conversation,
    queue: queueAfter(state.facts.queue, 0) ?? { first: seq, leaseUntil },
  });
  const named = namedBy({ conversationId, seq, user: message.user });
  writes.push(...(await namingWrites(dependencies, named)));
  await commitStart(dependencies, { conversationId, seq, producer, writes });
  return wait(dependencies, request, { seq, producer, crashPoint: 'turn-queued' });
}

/** Waits with a queued message that was abandoned. Throws GuardLostError, StoreUnavailableError. */
async function rejoinQueue(
  dependencies: ChatDependencies,
  { request, state }: Queued,
  seq: number,
): Promise<WaitingTurn | undefined> {
  const { conversationId } = request;
  if (!state.known) return undefined;
  const lease = newLease(dependencies);
  const { producer } = lease;
  const { updateTime } = state.known;
  const writes = [waiterLeaseWrite(conversationId, { seq, updateTime, lease })];
  await commitStart(dependencies, { conversationId, seq, producer, writes });
  return wait(dependencies, request, { seq, producer, crashPoint: 'turn-rejoined' });
}

/** Resolves when a turn that another request waits with waits no more, or nobody waits with it. */
async function untilBegun(
  dependencies: ChatDependencies,
  turn: { conversationId: string; seq: number },
): Promise<'gone'> {
  while (!dependencies.shutdown.aborted) {
    const [found] = await readTurnDocuments(dependencies.store, turn.conversationId, [turn.seq]);
    const isQueued = found?.value.state === 'queued';
    // A lease that nobody renews ends this loop.
    if (!isQueued || found.value.leaseUntil <= dependencies.clock.now()) break;
    await untilNextLook(dependencies, turn);
  }
  return 'gone';
}

/**
 * Waits with a message: with one that another request waits with, with one that was abandoned, or with a new one.
 * Undefined: what was read does not fit together. Throws what `queueTurn` throws.
 */
export async function joinQueue(
  dependencies: ChatDependencies,
  {
    decision,
    ...queued
  }: Queued & { decision: Extract<StartDecision, { kind: 'waiting' | 'rejoin' | 'enqueue' }> },
): Promise<WaitingTurn | undefined> {
  const { seq } = decision;
  const { conversationId } = queued.request;
  switch (decision.kind) {
    case 'waiting':
      return { seq, begun: untilBegun(dependencies, { conversationId, seq }) };
    case 'rejoin':
      return rejoinQueue(dependencies, queued, seq);
    case 'enqueue':
      return queueTurn(dependencies, queued, decision);
  }
}
