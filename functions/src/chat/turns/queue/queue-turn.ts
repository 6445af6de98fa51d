import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { shownUser } from '#shared/conversation/context/shown-user.ts';
import { queueAfter } from '#shared/conversation/decisions/queue-decision.ts';
import { enqueueWrites, waiterLeaseWrite } from '#shared/conversation/writes/queue-writes.ts';
import { readTurnDocuments } from '#shared/conversation/context/read-conversation.ts';
import type { StartDecision } from '#shared/conversation/decisions/start-decision.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { commitStart } from '../start/commit-start.ts';
import { pendingHandle } from '../send/pending-handle.ts';
import type { StartState } from '../start/read-start.ts';
import { refuseOverDayLimit } from '../send/refuse-over-day-limit.ts';
import type { SendHandle, SendMessage, SendRequest } from '../send/send-request.ts';
import { leaseFrom } from '#functions/chat/turn-lease.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { storedMessage, regeneratedBy, storedRouting } from '../start/stored-message.ts';
import { newsOfClient, collectTurnContext } from '../start/turn-context.ts';
import { namedBy, namingWrites } from '#functions/chat/features/uploads/name-uploads.ts';
import { waitInQueue } from './wait-in-queue.ts';
import { untilNextLook } from './watch-turns.ts';

interface Queued {
  request: SendRequest;
  state: StartState;
  sendMessage: SendMessage;
}

const newLease = (dependencies: ChatDependencies) => ({
  producer: dependencies.randomness.uuid(),
  leaseUntil: leaseFrom(dependencies),
});

const generationOf = ({ state }: Queued) => state.head?.value.generation ?? 0;

function wait(
  dependencies: ChatDependencies,
  queued: Queued,
  turn: { seq: number; producer: string; crashPoint: 'turn-queued' | 'turn-rejoined' },
): SendHandle {
  const { request, sendMessage } = queued;
  const { seq, producer, crashPoint } = turn;
  const next = passCrashPoint(dependencies, crashPoint).then(() =>
    waitInQueue(dependencies, { request, seq, producer }, sendMessage),
  );
  return pendingHandle(request, { seq, generation: generationOf(queued) }, next);
}

/**
 * Stores a message behind those that are being answered or wait, and waits with it. Throws the quota reasons of limits
 * that it cannot wait for, GuardLostError, StoreUnavailableError.
 */
export async function queueTurn(
  dependencies: ChatDependencies,
  queued: Queued & { decision: Extract<StartDecision, { kind: 'enqueue' }> },
): Promise<SendHandle> {
  const { request, state, decision } = queued;
  const { conversationId } = request;
  const { seq, replaces } = decision;
  if (!state.head) throw new Error('a message waits behind others, so there is a head');
  const lease = newLease(dependencies);
  const { producer, leaseUntil } = lease;
  const message = await storedMessage(dependencies, request, {
    storedSeq: replaces ?? seq,
    isNew: true,
  });
  // What the turns before will have told is not known yet: all is told, with the time at which it was said.
  const around = collectTurnContext(dependencies, request, {
    generation: generationOf(queued),
    turns: [],
    known: state.head.value.client,
  });
  const shown = shownUser({ ...message, ...around });
  const userTokens = estimateContentTokens(shown, meterCounting(state.head.value));
  const head = state.head.value;
  await refuseOverDayLimit(dependencies, request, { head, estimatedTokens: userTokens });
  const writes = enqueueWrites({
    conversationId,
    messageId: request.message.id,
    bodyHash: state.facts.bodyHash,
    seq,
    ...message,
    routing: storedRouting(state.head.value, message),
    ...around,
    client: newsOfClient(state.head.value.client, request),
    replaces,
    regenerates: regeneratedBy(request, replaces),
    userTokens,
    lease,
    now: dependencies.clock.now(),
    head: state.head,
    queue: queueAfter(state.facts.queue, 0) ?? { first: seq, leaseUntil },
  });
  const named = namedBy({ conversationId, seq, user: message.user });
  writes.push(...(await namingWrites(dependencies, named)));
  await commitStart(dependencies, { conversationId, seq, producer, writes });
  return wait(dependencies, queued, { seq, producer, crashPoint: 'turn-queued' });
}

/** Waits with a queued message that was abandoned. Throws GuardLostError, StoreUnavailableError. */
export async function rejoinQueue(
  dependencies: ChatDependencies,
  queued: Queued & { seq: number },
): Promise<SendHandle | undefined> {
  const { request, state, seq } = queued;
  const { conversationId } = request;
  if (!state.known) return undefined;
  const lease = newLease(dependencies);
  const { producer } = lease;
  const { updateTime } = state.known;
  const writes = [waiterLeaseWrite(conversationId, { seq, updateTime, lease })];
  await commitStart(dependencies, { conversationId, seq, producer, writes });
  return wait(dependencies, queued, { seq, producer, crashPoint: 'turn-rejoined' });
}

/** Resolves when a turn waits no more, or nobody waits with it. */
async function untilBegun(
  dependencies: ChatDependencies,
  turn: { conversationId: string; seq: number },
): Promise<void> {
  while (!dependencies.shutdown.aborted) {
    const [found] = await readTurnDocuments(dependencies.store, turn.conversationId, [turn.seq]);
    const isQueued = found?.value.state === 'queued';
    // A lease that nobody renews ends this loop.
    if (!isQueued || found.value.leaseUntil <= dependencies.clock.now()) return;
    await untilNextLook(dependencies, turn);
  }
}

/** Attaches to a message that another request waits with. */
export function followQueued(
  dependencies: ChatDependencies,
  queued: Queued & { seq: number },
): SendHandle {
  const { request, seq, sendMessage } = queued;
  const { conversationId } = request;
  const next = untilBegun(dependencies, { conversationId, seq }).then(() =>
    sendMessage(dependencies, request),
  );
  return pendingHandle(request, { seq, generation: generationOf(queued) }, next);
}
