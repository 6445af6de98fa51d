import { toolOutputOf } from '../../../../shared/compaction/tool-output-mask.ts';
import { decideErase, type EraseDecision } from '../../../../shared/conversation/erase-decision.ts';
import {
  erasedTurn,
  eraseTurnWrites,
  pendingWith,
} from '../../../../shared/conversation/erase-turn.ts';
import type { Head, Versioned } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import { rearmsFrom } from '../../../../shared/conversation/next-generation.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import type { Caller } from '../../../../shared/ports.ts';
import type { MessageView } from '../../../../shared/wire/responses.ts';
import { answerView, userMessageView } from '../../../../shared/wire/views.ts';
import { finishErasure } from '../../erasure/finish-erasure.ts';
import { publishRequest } from '../answer/publish-request.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import {
  changeGeneration,
  type Decision,
  type NewGeneration,
} from '../context/change-generation.ts';
import { continueHistory, readPresent } from '../context/continue-history.ts';
import { newestHistoryThrough } from '../context/find-history.ts';
import { needAfterChange } from '../context/need-after-change.ts';
import { passLifecyclePoint } from '../lifecycle-crash-points.ts';
import { messageNotFoundError } from '../not-found.ts';
import { findAlike, findMessage, unfinishedTurnError } from './find-message.ts';
import type { OwnConversation } from './own-conversation.ts';

interface DeleteRequest {
  caller: Caller;
  conversationId: string;
  messageId: string;
}

interface Deleted {
  view: MessageView;
  needed?: string | undefined;
  /** Nothing is left to empty. */
  isLast: boolean;
}

interface Conversation {
  conversationId: string;
  head: Head;
}

/** Names that the blobs of a turn's tool outputs have, if there are any. */
const blobsOf = ({ sha256 }: ChatDependencies, turn: Turn): string[] =>
  [turn.user, ...turn.contents].flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const output = toolOutputOf(part);
      return output ? [sha256(output.text)] : [];
    }),
  );

/** The history to go on with: the present one unless it may tell of one of the turns. */
async function sourceWithout(
  dependencies: ChatDependencies,
  of: Conversation,
  { turns, present }: { turns: readonly Turn[]; present: History | undefined },
): Promise<History | undefined> {
  const coveredSeq = present?.coveredThrough.seq ?? 0;
  const told = turns.filter(({ inContext, seq }) => inContext && seq <= coveredSeq);
  if (told.length === 0) return present;
  return newestHistoryThrough(dependencies, of, Math.min(...told.map(({ seq }) => seq)) - 1);
}

/** The next generation, without the turns that are emptied in the same batch. */
async function eraseTurns(
  dependencies: ChatDependencies,
  of: Conversation & { by: string; turns: readonly Versioned<Turn>[] },
  { part }: Extract<EraseDecision, { kind: 'erase' }>,
): Promise<Omit<NewGeneration<never>, 'result'> & { left: Turn[] }> {
  const { conversationId, head, by } = of;
  const turns = of.turns.map(({ value }) => value);
  const seqs = turns.map(({ seq }) => seq);
  const now = dependencies.clock.now();
  const present = await readPresent(dependencies, of);
  const source = await sourceWithout(dependencies, of, { turns, present: present.history });
  const left = turns.map((turn) => erasedTurn(turn, part, now));
  const next = await continueHistory(dependencies, of, {
    source,
    present,
    state: 'CHANGED',
    changedSeqs: turns.filter(({ inContext }) => inContext).map(({ seq }) => seq),
    requestId: by,
    by,
    left: (turn) => left.find(({ seq }) => seq === turn.seq) ?? turn,
    afterTokens: (tokens) => rearmsFrom({ source, present: present.history, tokens }),
  });
  const { history, tokens, headAfter } = next;
  // Turns that were folded stand verbatim again: they may need folding anew.
  const hasFallenBack = source?.generation !== present.history?.generation;
  const need = hasFallenBack
    ? needAfterChange(dependencies, { head: headAfter, history, tokens })
    : undefined;
  const blobs = turns.flatMap((turn) => blobsOf(dependencies, turn));
  return {
    history,
    tokens,
    left,
    headAfter: {
      ...headAfter,
      compactionNeeded: { ...head.compactionNeeded, ...(need && { auto: need }) },
    },
    fields: {
      pins: head.pins.filter(({ seq }) => seq === undefined || !seqs.includes(seq)),
      pendingErasure: pendingWith(head.pendingErasure, { seqs, blobs, now }),
      ...(need && { 'compactionNeeded.auto': { ...need } }),
    },
    writes: of.turns.flatMap((turn) => eraseTurnWrites(conversationId, turn, { part, now })),
  };
}

async function changeOf(
  dependencies: ChatDependencies,
  { own, by, request }: { own: OwnConversation; by: string; request: DeleteRequest },
): Promise<Decision<Deleted>> {
  const { conversationId, messageId } = request;
  const of = { conversationId, head: own.head.value };
  const { turn, isAnswer } = await findMessage(dependencies, of, messageId);
  const alike = isAnswer ? [turn] : await findAlike(dependencies, of, turn);
  const named = turn.value;
  const decision = decideErase({ named, isAnswer, alike: alike.map(({ value }) => value) });
  const view = isAnswer ? answerView : userMessageView;
  switch (decision.kind) {
    case 'inProgress':
      throw unfinishedTurnError(conversationId, decision.seq);
    case 'notFound':
      throw messageNotFoundError(conversationId, messageId);
    case 'done': {
      // The first try may have died before it told the workers.
      const needed = of.head.compactionNeeded.auto?.requestId;
      return { result: { view: view(named), needed, isLast: true } };
    }
    case 'erase': {
      const turns = alike.filter(({ value }) => decision.seqs.includes(value.seq));
      const { left, ...change } = await eraseTurns(dependencies, { ...of, by, turns }, decision);
      const shown = left.find(({ seq }) => seq === named.seq) ?? named;
      const needed = change.headAfter.compactionNeeded.auto?.requestId;
      return { ...change, result: { view: view(shown), needed, isLast: decision.isLast } };
    }
  }
}

/**
 * Erases a message: a user message with its answer, and with every regeneration that repeats it, or an
 * answer alone; and before it returns everything that was made of those turns. Their places, ids and bills
 * stay. Deleted before → the same again. Returns the message as the transcript shows it from now on.
 * Throws NOT_FOUND, MESSAGE_NOT_FOUND, TURN_IN_PROGRESS, GuardLostError, StoreUnavailableError; after the
 * last two the same request goes on where this one stopped, and so does the sweep.
 */
export async function deleteMessage(
  dependencies: ChatDependencies,
  request: DeleteRequest,
): Promise<MessageView> {
  const { conversationId } = request;
  for (;;) {
    const { view, needed, isLast } = await changeGeneration<Deleted>(
      dependencies,
      request,
      (own, by) => changeOf(dependencies, { own, by, request }),
    );
    await passLifecyclePoint(dependencies, 'message-wiped');
    if (!isLast) continue;
    await finishErasure(dependencies, conversationId);
    await passLifecyclePoint(dependencies, 'erasure-finished');
    if (needed !== undefined)
      await publishRequest(dependencies, { conversationId, requestId: needed });
    return view;
  }
}
