import { preferredLocale } from '#functions/chat/http/headers.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { answerText } from '#shared/conversation/documents/content.ts';
import { firstTailSeq, readTurnRange } from '#shared/conversation/context/read-conversation.ts';
import { QUEUE_MAX, REPLACED_MAX } from '#shared/conversation/start-decision.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import type { AnswerOptions } from '#shared/models/answer-options.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { typedText } from '#shared/uploads/upload-parts.ts';
import { stableUuid } from '#shared/uuid.ts';
import { messageIdSchema } from '#shared/wire/fields.ts';
import { toAnswer, type Answer } from './answer.ts';
import {
  isFirstMessage,
  placeByTexts,
  tellsPlace,
  type ShownHistory,
  type TranscriptTurn,
} from './place.ts';
import {
  declareWish,
  findOwnConversation,
  findTurnOfMessage,
  giveOutputs,
  sendWish,
  type GivenOutput,
  type Place,
} from './send-wish.ts';
import type { Wish } from './wish.ts';

/** Names the message. */
export const KEY_HEADER = 'idempotency-key';

/** Every SDK of OpenAI sends a request again by itself, after 408, 409, 429, 5xx and a lost connection, and counts. */
export const RETRIES_HEADER = 'x-stainless-retry-count';

export type Header = (name: string) => string | undefined;

export const isRetry = (header: Header) => Number(header(RETRIES_HEADER) ?? 0) > 0;

/** How far back a message is looked for that others were sent after: all that may wait, and the running one. */
const LOOK_BACK = QUEUE_MAX + 1;

/**
 * How long after the end of an answer the same request counts as a second try of a program that does not say so, ms.
 * Libraries come back within seconds.
 */
const JUST_ENDED_MS = 60_000;

/** A message whose protocol has no ids, and what it comes with. */
interface Unnamed {
  conversationId: string;
  conversation: Conversation | undefined;
  shown: ShownHistory;
  /** What the request says, and how it is to be answered: another wish is another message. */
  said: unknown;
  options: AnswerOptions | undefined;
  header: Header;
}

/** The id of a message that the client has named by a header. */
export function keyedMessageId(
  { sha256 }: Pick<RouteDependencies, 'sha256'>,
  conversationId: string,
  header: Header,
): string | undefined {
  const key = header(KEY_HEADER)?.trim() ?? '';
  if (key === '') return undefined;
  return messageIdSchema.safeParse(key).success
    ? key
    : stableUuid(sha256, ['openai', conversationId, 'key', key]);
}

/** Ids of a message that has none, by the turn that it is said after. */
export function messageIdAfter(
  { sha256 }: Pick<RouteDependencies, 'sha256'>,
  { conversationId, said, options }: Pick<Unnamed, 'conversationId' | 'said' | 'options'>,
): (seq: number) => string {
  const content = sha256(JSON.stringify([said, options]));
  return (seq) => stableUuid(sha256, ['openai', conversationId, 'after', String(seq), content]);
}

const transcriptTurn = ({ seq, user, contents, inContext, state }: Turn): TranscriptTurn => ({
  seq,
  user: typedText(user),
  answer: answerText(contents),
  counts: inContext || !isTerminal(state),
});

const stands = ({ replacedBy, eraseTime }: Turn) => !replacedBy && !eraseTime;

type Reading = Pick<RouteDependencies, 'store' | 'cache' | 'sha256' | 'clock'>;

/**
 * Whether the request was sent before, and in whose place the message is said. The turns of the context are looked at
 * first; those that are folded, only where that is not enough.
 */
async function placeByHistory(
  dependencies: Reading,
  { conversationId, conversation, shown, header }: Unnamed,
  repeated: Turn | undefined,
): Promise<{ isAgain: boolean; editedId?: string | undefined }> {
  if (!conversation) return { isAgain: false };
  const { lastSeq, open } = conversation;
  const endedAt = repeated?.finishTime?.getTime() ?? Number.NEGATIVE_INFINITY;
  const request = {
    shown,
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
  for (const fromSeq of isFirstMessage(shown) ? [1] : new Set([tail, oldest])) {
    const toSeq = tellsPlace(shown) ? Math.min(lastSeq, fromSeq + REPLACED_MAX) : 0;
    const range = { conversationId, conversation, fromSeq, toSeq };
    const turns = (await readTurnRange(dependencies, range)).filter(stands);
    const place = placeByTexts({ ...request, turns: turns.map(transcriptTurn) });
    if (place.kind === 'unknown') continue;
    if (place.kind !== 'edit') return { isAgain: place.kind === 'again' };
    return { isAgain: false, editedId: turns.find(({ seq }) => seq === place.seq)?.messageId };
  }
  return { isAgain: false };
}

const editOf = (messageId: string | undefined): Pick<Place, 'replacing'> =>
  messageId === undefined ? {} : { replacing: { kind: 'edit', messageId } };

/** The newest turn that began with the same request. */
async function findRepeated(
  dependencies: Reading,
  { conversationId, conversation, shown, header }: Unnamed,
  idAfter: (seq: number) => string,
): Promise<Turn | undefined> {
  if (!conversation) return undefined;
  const { lastSeq, open } = conversation;
  const isBehind = isRetry(header) || open !== undefined;
  const lookBack = isBehind ? LOOK_BACK : tellsPlace(shown) ? 1 : 0;
  const ids = new Set(Array.from({ length: lookBack }, (_, back) => idAfter(lastSeq - 1 - back)));
  const fromSeq = Math.max(1, lastSeq - lookBack + 1);
  const range = { conversationId, conversation, fromSeq, toSeq: lastSeq };
  return (await readTurnRange(dependencies, range)).findLast(({ messageId }) => ids.has(messageId));
}

/**
 * The id of a message, and where it goes. SDKs send a request again by themselves, without a key. So the id is made of all
 * that the request says and of the turn that it is said after; a request that was sent before keeps its id. `keyedId`:
 * the client has named the message; that goes before all.
 */
async function findPlace(
  dependencies: Reading,
  message: Unnamed,
  keyedId: string | undefined,
): Promise<Place> {
  const { conversationId, conversation } = message;
  if (keyedId !== undefined) {
    const sent = conversation && (await findTurnOfMessage(dependencies, conversationId, keyedId));
    if (sent) return { id: keyedId, isKeyed: true, sent };
    const { editedId } = await placeByHistory(dependencies, message, undefined);
    return { id: keyedId, isKeyed: true, ...editOf(editedId) };
  }
  const idAfter = messageIdAfter(dependencies, message);
  const repeated = await findRepeated(dependencies, message, idAfter);
  const { isAgain, editedId } = await placeByHistory(dependencies, message, repeated);
  if (repeated && isAgain) return { id: repeated.messageId, sent: repeated };
  return { id: idAfter(conversation?.lastSeq ?? 0), ...editOf(editedId) };
}

/** Sends the message that a dialogue ends with. Throws what declaring and sending throw. */
export async function sendDialogue(
  dependencies: RouteDependencies,
  sender: {
    caller: Caller;
    header: Header;
    conversationId: string;
    /** Where it does not follow from the header and the place of the message. */
    messageId?: string | undefined;
  },
  message: { shown: ShownHistory; said: unknown; wish: Wish },
): Promise<Answer> {
  const { caller, header, conversationId, messageId } = sender;
  const { shown, said, wish } = message;
  const conversation = await findOwnConversation(dependencies, { caller, conversationId });
  const place = await findPlace(
    dependencies,
    { conversationId, conversation, shown, said, options: wish.options, header },
    messageId ?? keyedMessageId(dependencies, conversationId, header),
  );
  const target = { caller, conversationId, conversation };
  await declareWish(dependencies, target, wish);
  const handle = await sendWish(dependencies, target, wish, place);
  return toAnswer(dependencies, { handle, conversation, answered: [] });
}

/** Answers the calls that a dialogue ends with the outputs of. Throws what answering calls throws. */
export async function sendOutputs(
  dependencies: RouteDependencies,
  { caller, header, conversationId }: { caller: Caller; header: Header; conversationId: string },
  outputs: readonly GivenOutput[],
): Promise<Answer> {
  const locale = preferredLocale(header('accept-language'));
  const conversation = await findOwnConversation(dependencies, { caller, conversationId });
  const handle = await giveOutputs(dependencies, { caller, conversationId, locale }, outputs);
  const answered = outputs.map(({ callId }) => callId);
  return toAnswer(dependencies, { handle, conversation, answered });
}
