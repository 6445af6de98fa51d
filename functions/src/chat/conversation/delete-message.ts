import { isOverThreshold } from '../../../../shared/compaction/policy.ts';
import { toolOutputOf } from '../../../../shared/compaction/tool-output-mask.ts';
import {
  isWiped,
  pendingWith,
  wipedTurn,
  wipeWrites,
  type Wiped,
} from '../../../../shared/conversation/erase-turn.ts';
import { finishErasure } from '../../../../shared/conversation/finish-erasure.ts';
import type { Head, Versioned } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import { decodeMessageGuard } from '../../../../shared/conversation/message-guard.ts';
import { messageGuardPath, seqOfId } from '../../../../shared/conversation/paths.ts';
import { readTurns } from '../../../../shared/conversation/read-conversation.ts';
import { isTerminal, type Turn } from '../../../../shared/conversation/turn.ts';
import { AppError } from '../../../../shared/errors.ts';
import type { Caller } from '../../../../shared/ports.ts';
import type { MessageView } from '../../../../shared/wire/responses.ts';
import { answerView, hasAnswer, userMessageView } from '../../../../shared/wire/views.ts';
import { policyOf } from '../../conversation-policy.ts';
import { changeGeneration, type Decision } from '../context/change-generation.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { continueHistory, readPresent, type Continuation } from '../context/continue-history.ts';
import { newestHistoryThrough } from '../context/find-history.ts';
import { passLifecyclePoint } from '../lifecycle-crash-points.ts';
import type { OwnConversation } from './own-conversation.ts';
import { publishRequest } from '../answer/publish-request.ts';

export const messageNotFound = (conversationId: string, messageId: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'MESSAGE_NOT_FOUND',
    message: `no message ${messageId} in ${conversationId}`,
    publicMessage: 'The conversation has no such message. Look at the list of messages.',
    metadata: { messageId },
  });

export const turnInProgress = (conversationId: string, seq: number) =>
  new AppError({
    status: 'ABORTED',
    reason: 'TURN_IN_PROGRESS',
    message: `turn ${seq} of ${conversationId} is not finished`,
    publicMessage:
      'This message is being answered, or waits for its answer. Wait for it, or cancel it.',
    metadata: { turnId: `t_${seq}` },
  });

/** The turn that a message id names: an answer's own (`m_17`), or the client's of a user message. */
export async function findMessage(
  { store }: Pick<ChatDependencies, 'store'>,
  { conversationId, head }: Pick<OwnConversation, 'conversationId' | 'head'>,
  messageId: string,
): Promise<{ seq: number; turn: Versioned<Turn>; isAnswer: boolean }> {
  const answered = seqOfId(messageId, 'm');
  const [guard] = answered ? [] : await store.get([messageGuardPath(conversationId, messageId)]);
  const seq = answered ?? (guard && decodeMessageGuard(guard).seq) ?? 0;
  const isThere = seq >= 1 && seq <= head.value.lastSeq;
  const [turn] = isThere ? await readTurns(store, conversationId, [seq]) : [];
  if (!turn) throw messageNotFound(conversationId, messageId);
  return { seq, turn, isAnswer: answered !== undefined };
}

interface DeleteRequest {
  caller: Caller;
  conversationId: string;
  messageId: string;
}

interface Deleted {
  view: MessageView;
  needed?: string | undefined;
}

/** Names that the blobs of a turn's tool outputs have, if there are any. */
const blobsOf = ({ sha256 }: ChatDependencies, turn: Turn): string[] =>
  [turn.user, ...turn.contents].flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const output = toolOutputOf(part);
      return output ? [sha256(output.text)] : [];
    }),
  );

/** Turns that were folded stand verbatim again: over the threshold they need folding anew. */
function needAfter(
  { config, clock, randomness }: ChatDependencies,
  { headAfter, tokens }: Continuation,
): Head['compactionNeeded']['auto'] {
  const { compactionNeeded, settings, context } = headAfter;
  if (compactionNeeded.auto ?? compactionNeeded.manual) return undefined;
  if ((settings.compaction ?? 'auto') !== 'auto') return undefined;
  const { overheadTokens } = context;
  const policy = policyOf(config, headAfter);
  return isOverThreshold({ tokens, overheadTokens, policy })
    ? { requestId: randomness.uuid(), since: clock.now(), trigger: 'auto' }
    : undefined;
}

/** The history to go on with: the present one unless it may tell of the turn. */
async function sourceWithout(
  dependencies: ChatDependencies,
  own: OwnConversation,
  { turn, present }: { turn: Turn; present: History | undefined },
): Promise<History | undefined> {
  const isTold = turn.inContext && (present?.coveredThrough.seq ?? 0) >= turn.seq;
  if (!isTold) return present;
  const of = { conversationId: own.conversationId, head: own.head.value };
  return newestHistoryThrough(dependencies, of, turn.seq - 1);
}

async function decideDelete(
  dependencies: ChatDependencies,
  { own, by, request }: { own: OwnConversation; by: string; request: DeleteRequest },
): Promise<Decision<Deleted>> {
  const { conversationId, messageId } = request;
  const head = own.head.value;
  const { seq, turn, isAnswer } = await findMessage(dependencies, own, messageId);
  const wiped: Wiped = isAnswer ? 'answer' : 'turn';
  const view = isAnswer ? answerView : userMessageView;
  if (!isTerminal(turn.value.state)) throw turnInProgress(conversationId, seq);
  if (isWiped(turn.value, wiped))
    // The first try may have died before it told the workers.
    return { result: { view: view(turn.value), needed: head.compactionNeeded.auto?.requestId } };
  if (isAnswer && !hasAnswer(turn.value)) throw messageNotFound(conversationId, messageId);

  const now = dependencies.clock.now();
  const present = await readPresent(dependencies, own);
  const source = await sourceWithout(dependencies, own, {
    turn: turn.value,
    present: present.history,
  });
  const left = wipedTurn(turn.value, wiped, now);
  const next = await continueHistory(dependencies, own, {
    source,
    present,
    state: 'CHANGED',
    changedSeqs: turn.value.inContext ? [seq] : [],
    requestId: by,
    by,
    left: (each) => (each.seq === seq ? left : each),
    afterTokens: (tokens) => Math.min(source?.afterTokens ?? 0, tokens),
  });
  const hasFallenBack = source?.generation !== present.history?.generation;
  const need = hasFallenBack ? needAfter(dependencies, next) : undefined;
  const pins = head.pins.filter((pin) => pin.seq !== seq);
  const blobs = blobsOf(dependencies, turn.value);
  return {
    ...next,
    headAfter: {
      ...next.headAfter,
      compactionNeeded: { ...head.compactionNeeded, ...(need && { auto: need }) },
    },
    fields: {
      pins,
      pendingErasure: pendingWith(head.pendingErasure, { seq, blobs, now }),
      ...(need && { 'compactionNeeded.auto': { ...need } }),
    },
    writes: wipeWrites(conversationId, turn, { wiped, now }),
    result: { view: view(left), needed: need?.requestId },
  };
}

/**
 * Erases a message: a user message with its answer, or an answer alone, and before it returns everything
 * that was made of the turn. Its place, its id and its bill stay. Deleted before → the same again.
 * Returns the message as the transcript shows it from now on.
 * Throws NOT_FOUND, MESSAGE_NOT_FOUND, TURN_IN_PROGRESS, GuardLostError, StoreUnavailableError; after the
 * last two the same request goes on where this one stopped, and so does the sweep.
 */
export async function deleteMessage(
  dependencies: ChatDependencies,
  request: DeleteRequest,
): Promise<MessageView> {
  const { conversationId } = request;
  const { view, needed } = await changeGeneration<Deleted>(dependencies, request, (own, by) =>
    decideDelete(dependencies, { own, by, request }),
  );
  await passLifecyclePoint(dependencies, 'message-wiped');
  await finishErasure(dependencies, conversationId);
  await passLifecyclePoint(dependencies, 'erasure-finished');
  if (needed !== undefined)
    await publishRequest(dependencies, { conversationId, requestId: needed });
  return view;
}
