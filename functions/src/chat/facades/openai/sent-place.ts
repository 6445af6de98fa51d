import { typedText } from '#shared/uploads/upload-parts.ts';
import { answerText } from '#shared/conversation/context/answer-text.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { QUEUE_MAX } from '#shared/conversation/decisions/queue-decision.ts';
import { decodeMessageGuard } from '#shared/conversation/documents/message-guard.ts';
import { messageGuardPath } from '#shared/conversation/documents/paths.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import {
  firstTailSeq,
  readTurnRange,
  readTurns,
} from '#shared/conversation/context/read-conversation.ts';
import { REPLACED_MAX } from '#shared/conversation/decisions/start-decision.ts';
import type { AnswerOptions } from '#shared/models/answer-options.ts';
import type { ChatCompletionBody, OpenAiMessage } from '#shared/wire/facades/openai.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import {
  isFirstMessage,
  placeMessage,
  tellsPlace,
  type ShownHistory,
  type ShownTurn,
  type TranscriptTurn,
} from './history-place.ts';
import { messageText, typedIn } from './message-content.ts';
import { isRetry, messageIdAfter, namedMessageId } from './message-id.ts';

/** How far back a message is looked for that others were sent after: all that may wait, and the running one. */
const LOOK_BACK = QUEUE_MAX + 1;

/**
 * How long after the end of an answer the same request counts as a second try of a program that does not say so, ms.
 * Libraries come back within seconds.
 */
const JUST_ENDED_MS = 60_000;

interface Asked {
  conversationId: string;
  /** The caller's own, where there is one. */
  conversation: Conversation | undefined;
  /** The last message is the one. */
  body: ChatCompletionBody;
  header: (name: string) => string | undefined;
  /** How it is to be answered. */
  options: AnswerOptions | undefined;
}

/** The id of the message that a request ends with, and where it goes. */
export interface SentPlace {
  id: string;
  /** The turn of the message, where it was sent before. */
  sent?: Turn;
  /** The message in whose place it is said. */
  edited?: string | undefined;
}

type Reading = Pick<RouteDependencies, 'store' | 'cache' | 'sha256' | 'clock'>;

async function turnOfMessage(
  { store }: Reading,
  { conversationId }: Asked,
  id: string,
): Promise<Turn | undefined> {
  const [guard] = await store.get([messageGuardPath(conversationId, id)]);
  if (!guard) return undefined;
  return (await readTurns(store, conversationId, [decodeMessageGuard(guard).seq]))[0]?.value;
}

/** What the client shows in front of its message, turn by turn. */
function shownTurns(messages: readonly OpenAiMessage[]): ShownTurn[] {
  const shown: ShownTurn[] = [];
  for (const message of messages.slice(0, -1)) {
    if (message.role === 'user') shown.push({ user: typedIn(message), answer: '' });
    if (message.role !== 'assistant') continue;
    const text = messageText(message);
    const last = shown.at(-1);
    if (last) last.answer += text;
    else if (text !== '') shown.push({ user: undefined, answer: text });
  }
  return shown;
}

const transcriptTurn = ({ seq, user, contents, inContext, state }: Turn): TranscriptTurn => ({
  seq,
  user: typedText(user),
  answer: answerText(contents),
  counts: inContext || !isTerminal(state),
});

const stands = ({ replacedBy, eraseTime }: Turn) => !replacedBy && !eraseTime;

/** The newest turn that began with the same request, and its message's id. */
async function findRepeated(
  dependencies: Reading,
  asked: Asked,
  { idAfter, lookBack }: { idAfter: (seq: number) => string; lookBack: number },
): Promise<{ id: string; turn: Turn } | undefined> {
  const { conversationId, conversation } = asked;
  const { store } = dependencies;
  const lastSeq = conversation?.lastSeq ?? 0;
  const ids = Array.from({ length: Math.min(lastSeq, lookBack) }, (_, back) =>
    idAfter(lastSeq - 1 - back),
  );
  if (ids.length === 0) return undefined;
  const guards = await store.get(ids.map((id) => messageGuardPath(conversationId, id)));
  const place = guards.findIndex((guard) => guard !== undefined);
  const [guard, id] = [guards[place], ids[place]];
  if (!guard || id === undefined) return undefined;
  const [turn] = await readTurns(store, conversationId, [decodeMessageGuard(guard).seq]);
  return turn && { id, turn: turn.value };
}

/** The turns from `fromSeq` on that stand, as far as an edit may replace them. */
async function standingTurns(
  dependencies: Reading,
  target: { conversationId: string; conversation: Conversation },
  fromSeq: number,
): Promise<Turn[]> {
  const toSeq = Math.min(target.conversation.lastSeq, fromSeq + REPLACED_MAX);
  return (await readTurnRange(dependencies, { ...target, fromSeq, toSeq })).filter(stands);
}

/**
 * Whether the request was sent before, and in whose place the message is said. The turns of the context are looked at
 * first; those that are folded, only where that is not enough.
 */
async function placeByHistory(
  dependencies: Reading,
  asked: Asked,
  { history, repeated }: { history: ShownHistory; repeated: Turn | undefined },
): Promise<{ isAgain: boolean; edited?: string | undefined }> {
  const { conversationId, conversation, header } = asked;
  if (!conversation) return { isAgain: false };
  const { lastSeq, open } = conversation;
  const endedAt = repeated?.finishTime?.getTime() ?? Number.NEGATIVE_INFINITY;
  const request = {
    ...history,
    isRetry: isRetry(header),
    repeated: repeated && {
      seq: repeated.seq,
      isOpen: open !== undefined && repeated.seq >= open.seq,
      isNewest: repeated.seq === lastSeq,
      hasJustEnded: dependencies.clock.now().getTime() - endedAt < JUST_ENDED_MS,
    },
  };
  const oldest = Math.max(1, lastSeq - REPLACED_MAX);
  const tail = Math.max(oldest, firstTailSeq(conversation));
  // The very beginning is no place of the tail, however much is folded.
  for (const fromSeq of isFirstMessage(history) ? [1] : new Set([tail, oldest])) {
    const turns = tellsPlace(history)
      ? await standingTurns(dependencies, { conversationId, conversation }, fromSeq)
      : [];
    const place = placeMessage({ ...request, turns: turns.map(transcriptTurn) });
    switch (place.kind) {
      case 'again':
        return { isAgain: true };
      case 'append':
        return { isAgain: false };
      case 'edit': {
        const edited = turns.find(({ seq }) => seq === place.seq)?.messageId;
        return { isAgain: false, edited };
      }
      case 'unknown':
    }
  }
  return { isAgain: false };
}

/**
 * The id of the message that a request ends with, and where it goes. OpenAI's protocol knows no ids, and its SDKs send
 * a request again by themselves, without a key. So the id is made of all that the request says and of the turn that it
 * is said after; a request that was sent before keeps its id. `Idempotency-Key` goes before all that.
 */
export async function findSentPlace(dependencies: Reading, asked: Asked): Promise<SentPlace> {
  const { conversationId, conversation, body, header, options } = asked;
  const { messages, metadata } = body;
  const history = { shown: shownTurns(messages), isWhole: metadata?.history === 'whole' };
  const named = namedMessageId(dependencies, { conversationId, header });
  if (named !== undefined) {
    const sent = conversation && (await turnOfMessage(dependencies, asked, named));
    if (sent) return { id: named, sent };
    const { edited } = await placeByHistory(dependencies, asked, { history, repeated: undefined });
    return { id: named, edited };
  }
  const idAfter = messageIdAfter(dependencies, { conversationId, messages, options });
  const isBehind = isRetry(header) || conversation?.open !== undefined;
  const lookBack = isBehind ? LOOK_BACK : tellsPlace(history) ? 1 : 0;
  const repeated = await findRepeated(dependencies, asked, { idAfter, lookBack });
  const { isAgain, edited } = await placeByHistory(dependencies, asked, {
    history,
    repeated: repeated?.turn,
  });
  return repeated && isAgain
    ? { id: repeated.id, sent: repeated.turn }
    : { id: idAfter(conversation?.lastSeq ?? 0), edited };
}
