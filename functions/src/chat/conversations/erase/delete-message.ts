import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import {
  changeGeneration,
  type Decision,
  type NewGeneration,
  requestAfterChange,
} from '#functions/chat/context/change-generation.ts';
import type { OwnConversation, ConversationTarget } from '../own-conversation.ts';
import { messageNotFoundError } from '#functions/chat/not-found.ts';
import { continueHistory, readPresent } from '#functions/context/continue-history.ts';
import { createRenderer } from '#functions/context/snapshot-rendering.ts';
import { finishErasure } from '#functions/erasure/finish-erasure.ts';
import { publishRequest } from '#functions/events/publish-request.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import {
  readHistories,
  newestHistoryThrough,
  readableHistory,
} from '#shared/conversation/context/find-history.ts';
import {
  decideErase,
  type EraseDecision,
  erasedTurn,
  eraseTurnWrites,
  pendingWith,
} from '#shared/conversation/writes/erase-turn.ts';
import { readableParts, type Part } from '#shared/models/content.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { inboxWrites } from '#shared/conversation/documents/inbox.ts';
import { withErasedTurns, withoutPreview } from '#shared/conversation/documents/last-message.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { Item } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { withoutPinsFrom } from '#shared/conversation/context/pins.ts';
import { withoutTurns } from '#shared/conversation/writes/erased-history.ts';
import { repeats } from '#shared/text/sentences.ts';
import { answerView, userMessageView, type MessageView } from '#shared/wire/resources/messages.ts';
import {
  findAlike,
  findMessage,
  unfinishedTurnError,
  type ReadConversation,
} from './find-message.ts';

/** Generations of one read. */
const GENERATIONS_PER_READ = 20;
/** Noted in the conversation document at most; snapshots that hold more are emptied whole. */
const ITEMS_MAX = 2_000;

/** What a part says: a call by its arguments, a response by what it returned. */
const saidBy = ({ text, functionCall, functionResponse }: Part): string[] => [
  ...(text === undefined ? [] : [text]),
  ...(functionCall === undefined ? [] : [JSON.stringify(functionCall.args ?? {})]),
  ...(functionResponse === undefined ? [] : [JSON.stringify(functionResponse.response)]),
];

/** Everything that was said in some turns, tools included. */
const saidIn = (turns: readonly Turn[]): string[] =>
  turns.flatMap(({ user, contents }) =>
    [user, ...contents].flatMap((content) => readableParts(content).flatMap(saidBy)),
  );

type RepeatingItems = NonNullable<NonNullable<Conversation['pendingErasure']>['items']>;

/**
 * The items of all generations that repeat what the turns say, whatever they cite: by generation and id,
 * because afterwards nobody can compare them any more. Generations that end before the turns cannot.
 */
async function repeatingItems(
  dependencies: Pick<ChatDependencies, 'store' | 'logger'>,
  target: { conversationId: string; conversation: Conversation },
  turns: readonly Turn[],
): Promise<RepeatingItems> {
  const first = Math.min(...turns.map(({ seq }) => seq));
  const isRepeated = repeats(saidIn(turns));
  const found: RepeatingItems = [];
  let left = ITEMS_MAX;
  for (let newest = target.conversation.generation; newest > 0; newest -= GENERATIONS_PER_READ) {
    const length = Math.min(GENERATIONS_PER_READ, newest);
    const generations = Array.from({ length }, (_, i) => newest - i);
    for (const { generation, snapshot, coveredThrough } of await readHistories(
      dependencies,
      target,
      generations,
    )) {
      if (!snapshot || coveredThrough.seq < first) continue;
      const items = [...Object.values(snapshot.sections).flat(), ...snapshot.archive];
      const ids = items.filter(({ text }) => isRepeated(text)).map(({ id }) => id);
      if (ids.length === 0) continue;
      left -= ids.length;
      // No id: the whole generation.
      found.push({ generation, ids: left < 0 ? [] : ids });
    }
  }
  return found;
}

interface DeleteRequest extends ConversationTarget {
  messageId: string;
}

interface Deleted {
  view: MessageView;
  compactionRequestId?: string | undefined;
  /** Nothing is left to empty. */
  isLast: boolean;
}

/**
 * The history to go on with: the present one without what came of the turns, or, where nothing is left of
 * it, the newest earlier one that ends before them.
 */
async function sourceWithout(
  dependencies: ChatDependencies,
  read: ReadConversation,
  erased: { turns: readonly Turn[]; present: History | undefined },
): Promise<History | undefined> {
  const present = await readableHistory(dependencies, read, erased.present);
  const coveredSeq = present?.coveredThrough.seq ?? 0;
  const coveredTurns = erased.turns.filter(({ inContext, seq }) => inContext && seq <= coveredSeq);
  if (!present || coveredTurns.length === 0) return present;
  const seqs = coveredTurns.map(({ seq }) => seq);
  const isRepeated = repeats(saidIn(coveredTurns));
  const gone = { seqs, isGoneItem: ({ text }: Item) => isRepeated(text) };
  const mended = withoutTurns(
    present,
    gone,
    createRenderer(dependencies.config, read.conversation),
  );
  if (mended.erased !== true) return mended;
  return newestHistoryThrough(dependencies, read, Math.min(...seqs) - 1);
}

/**
 * The context without the words of some turns, `emptied` as they are then; `compactionRequest` where it wants folding anew:
 * turns that were folded stand verbatim again, are to be read again, or count more now that their tokens are estimated.
 */
async function continueWithout(
  dependencies: ChatDependencies,
  read: ReadConversation & { by: string },
  { turns, emptied }: { turns: readonly Turn[]; emptied: readonly Turn[] },
) {
  const { conversationId, conversation, by } = read;
  const present = await readPresent(dependencies, read);
  const source = await sourceWithout(dependencies, read, {
    turns,
    present: present.history,
  });
  const erasedSeqs = turns.filter(({ inContext }) => inContext).map(({ seq }) => seq);
  const pins = withoutPinsFrom(conversation.pins, (pinned) =>
    turns.some(({ seq }) => seq === pinned),
  );
  const next = await continueHistory(
    dependencies,
    { conversationId, conversation: { ...conversation, pins } },
    {
      source,
      present,
      state: 'CHANGED',
      changedFromSeq: erasedSeqs.length > 0 ? Math.min(...erasedSeqs) : undefined,
      erasedSeqs,
      requestId: by,
      by,
      changeTurn: (turn) => emptied.find(({ seq }) => seq === turn.seq) ?? turn,
    },
  );
  const { history, tokens, conversationAfter } = next;
  const compactionRequest = requestAfterChange(dependencies, {
    conversation: conversationAfter,
    history,
    tokens,
  });
  return { ...next, pins, compactionRequest };
}

/** What the conversation document says of its newest messages when some are erased. */
function withoutErased(
  { asked, answered, erasedTurns }: Conversation,
  { part, seqs }: { part: 'turn' | 'answer'; seqs: readonly number[] },
): Pick<Conversation, 'asked' | 'answered' | 'erasedTurns'> {
  return {
    ...(asked && part === 'turn' && seqs.includes(asked.seq) && { asked: withoutPreview(asked) }),
    ...(answered && seqs.includes(answered.seq) && { answered: withoutPreview(answered) }),
    erasedTurns: withErasedTurns(erasedTurns, seqs),
  };
}

/** The next generation, without the turns that are emptied in the same batch. */
async function eraseTurns(
  dependencies: ChatDependencies,
  read: ReadConversation & { by: string; turns: readonly Versioned<Turn>[] },
  { part }: Extract<EraseDecision, { kind: 'erase' }>,
): Promise<Omit<NewGeneration<never>, 'result'> & { emptied: Turn[] }> {
  const { conversationId, conversation } = read;
  const turns = read.turns.map(({ value }) => value);
  const seqs = turns.map(({ seq }) => seq);
  const now = dependencies.clock.now();
  const emptied = turns.map((turn) => erasedTurn(turn, part, now));
  const next = await continueWithout(dependencies, read, { turns, emptied });
  const { history, conversationAfter, pins, compactionRequest } = next;
  // A title that was made of what goes tells of it.
  const isTitleGone = seqs.some((seq) => seq <= (conversation.autoTitle?.throughSeq ?? 0));
  const items = await repeatingItems(dependencies, read, turns);
  const shown = withoutErased(conversation, { part, seqs });
  const listed = { ...conversationAfter, ...shown, ...(isTitleGone && { title: undefined }) };
  return {
    history,
    turns: next.turns,
    emptied,
    conversationAfter: {
      ...conversationAfter,
      compactionRequests: {
        ...conversation.compactionRequests,
        ...(compactionRequest && { auto: compactionRequest }),
      },
    },
    fields: {
      ...shown,
      pins,
      pendingErasure: pendingWith(conversation.pendingErasure, { seqs, items, now }),
      ...(compactionRequest && { 'compactionRequests.auto': { ...compactionRequest } }),
    },
    ...(isTitleGone && { remove: ['title', 'autoTitle'] }),
    writes: [
      ...read.turns.flatMap((turn) => eraseTurnWrites(conversationId, turn, { part, now })),
      ...inboxWrites(conversationId, listed, { now }),
    ],
  };
}

async function changeOf(
  dependencies: ChatDependencies,
  { own, by, request }: { own: OwnConversation; by: string; request: DeleteRequest },
): Promise<Decision<Deleted>> {
  const { conversationId, messageId } = request;
  const target = { conversationId, conversation: own.conversation.value };
  const { turn, isAnswer } = await findMessage(dependencies, target, messageId);
  const alike = isAnswer ? [turn] : await findAlike(dependencies, target, turn);
  const named = turn.value;
  const { appendsUntil = new Date(0) } = target.conversation;
  // A producer that was not asked may add to its stream until then.
  const isAppended = alike.some(({ value }) => value.lastFrameId === undefined);
  if (isAppended && appendsUntil > dependencies.clock.now()) throw unfinishedTurnError(named.seq);
  const decision = decideErase({ named, isAnswer, alike: alike.map(({ value }) => value) });
  const view = isAnswer ? answerView : userMessageView;
  switch (decision.kind) {
    case 'inProgress':
      throw unfinishedTurnError(decision.seq);
    case 'notFound':
      throw messageNotFoundError(messageId);
    case 'done': {
      // The first try may have died before it told the workers.
      const compactionRequestId = target.conversation.compactionRequests.auto?.requestId;
      return { result: { view: view(named), compactionRequestId, isLast: true } };
    }
    case 'erase': {
      const turns = alike.filter(({ value }) => decision.seqs.includes(value.seq));
      const { emptied, ...change } = await eraseTurns(
        dependencies,
        { ...target, by, turns },
        decision,
      );
      const shown = emptied.find(({ seq }) => seq === named.seq) ?? named;
      const compactionRequestId = change.conversationAfter.compactionRequests.auto?.requestId;
      return {
        ...change,
        result: { view: view(shown), compactionRequestId, isLast: decision.isLast },
      };
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
    const { view, compactionRequestId, isLast } = await changeGeneration<Deleted>(
      dependencies,
      request,
      (own, by) => changeOf(dependencies, { own, by, request }),
    );
    await passCrashPoint(dependencies, 'message-wiped');
    if (!isLast) continue;
    await finishErasure(dependencies, conversationId);
    await passCrashPoint(dependencies, 'erasure-finished');
    if (compactionRequestId !== undefined)
      await publishRequest(dependencies, { conversationId, requestId: compactionRequestId });
    return view;
  }
}
