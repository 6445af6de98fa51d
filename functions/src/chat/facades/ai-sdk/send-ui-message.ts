import type { Part } from '#shared/conversation/documents/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { type Turn, isTerminal } from '#shared/conversation/documents/turn.ts';
import { answerId, seqOfId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { unreadUpload } from '#shared/uploads/upload-parts.ts';
import type { AiSdkChatBody, UiMessage } from '#shared/wire/facades/ai-sdk.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { answerOptions } from '#functions/chat/routes/parts/message-body.ts';
import type { SendHandle, SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { sendStored } from '#functions/chat/turns/send/send-stored.ts';
import { openChat } from '../chat-names.ts';
import { toEditId, toRegenerationId, lastUserMessage } from './user-message.ts';
import { comeBack, isLeftAlone } from '#functions/chat/turns/stream/leaving.ts';
import { askedOptions, declareModelContext } from './model-context.ts';
import { editedMessage } from './sent-history.ts';
import { readStanding } from './standing-turn.ts';
import { refuseLongAnswer } from '#functions/chat/turns/send/long-answer.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { readToolOutputs } from './tool-outputs.ts';

type Asked = Omit<SendRequest, 'message' | 'replacing'>;

/** Parts as they were sent: an upload as its id alone. */
const asSent = (parts: readonly Part[]): Part[] =>
  parts.map((part) => (part.upload ? unreadUpload(part.upload.id) : part));

const saysTheSame = (turn: Turn, { parts }: SendRequest['message']) =>
  JSON.stringify(asSent(turn.user.parts)) === JSON.stringify(parts);

/** Goes on with a turn as it is stored: attaches, replays or takes it over. */
async function goOn(
  dependencies: RouteDependencies,
  { caller, conversationId, locale }: Asked,
  turn: Turn,
): Promise<SendHandle> {
  await comeBack(dependencies, { conversationId, turn });
  const { sendMessage } = dependencies;
  const stored = { caller, conversationId, locale, cursor: undefined, turn, sendMessage };
  return sendStored(dependencies, stored);
}

/**
 * Answers the message of a turn anew: what follows it leaves the context. `answer`: the answer that is not wanted; the
 * same wish again is the same regeneration.
 */
async function regenerate(
  dependencies: RouteDependencies,
  asked: Asked,
  { turn, lastSeq, answer }: { turn: Turn; lastSeq: number; answer: string },
): Promise<SendHandle> {
  const { caller, conversationId } = asked;
  const id = toRegenerationId(dependencies, { conversationId, answerId: answer });
  const again = await readStanding(dependencies, { caller, conversationId, messageId: id });
  if (again.turn) return goOn(dependencies, asked, again.turn);
  if (turn.seq === lastSeq)
    return dependencies.sendMessage(dependencies, {
      ...asked,
      message: { id, parts: [] },
      replacing: { kind: 'regenerate', messageId: answerId(turn.seq) },
    });
  const { messageId, retention, user } = turn;
  return dependencies.sendMessage(dependencies, {
    ...asked,
    message: { id, parts: asSent(user.parts), ...(retention && { retention }) },
    replacing: { kind: 'edit', messageId },
  });
}

function edit(
  dependencies: RouteDependencies,
  asked: Asked,
  { message, turn }: { message: SendRequest['message']; turn: Turn },
): Promise<SendHandle> {
  const { conversationId } = asked;
  const { parts } = message;
  const id = toEditId(dependencies, { conversationId, seq: turn.seq, parts });
  return dependencies.sendMessage(dependencies, {
    ...asked,
    message: { ...message, id },
    replacing: { kind: 'edit', messageId: turn.messageId },
  });
}

/** A message that the server does not know: after all, or where the history that came with it ends. */
async function sendNew(
  dependencies: RouteDependencies,
  asked: Asked,
  sent: Wanted & { conversation: Conversation | undefined },
): Promise<SendHandle> {
  const { conversation, body, message } = sent;
  const { conversationId } = asked;
  const edited =
    conversation && (await editedMessage(dependencies, { conversationId, conversation, body }));
  return dependencies.sendMessage(dependencies, {
    ...asked,
    message,
    ...(edited !== undefined && { replacing: { kind: 'edit', messageId: edited } }),
  });
}

/**
 * Gives what the app's tools have given to the answer that waits for it; undefined where the messages end with none. Of
 * two tabs that run the same tool the first counts, and the other one reads what came of it.
 */
async function giveOutputs(
  dependencies: RouteDependencies,
  asked: Asked,
  messages: readonly UiMessage[],
): Promise<SendHandle | undefined> {
  const { caller, conversationId, locale } = asked;
  const target = { caller, conversationId };
  const given = await readToolOutputs(dependencies, { ...target, messages });
  if (given?.kind !== 'new') return given && goOn(dependencies, asked, given.turn);
  try {
    return await answerCalls(dependencies, { ...target, ...given, locale });
  } catch (error) {
    if (!(error instanceof AppError) || error.reason !== 'TOOL_RESULT_CONFLICT') throw error;
    const now = await readToolOutputs(dependencies, { ...target, messages });
    if (now?.kind !== 'known') throw error;
    return goOn(dependencies, asked, now.turn);
  }
}

/** A message that comes after `stop()` ends what was stopped at once; nobody waits for that any more. */
async function inPlaceOfLeft(
  dependencies: RouteDependencies,
  asked: Asked,
  conversation: Conversation | undefined,
): Promise<Asked> {
  if (!conversation || asked.onBusy) return asked;
  const { conversationId } = asked;
  const isLeft = await isLeftAlone(dependencies, { conversationId, conversation });
  return isLeft ? { ...asked, onBusy: 'interrupt' } : asked;
}

interface Wanted {
  body: AiSdkChatBody;
  message: SendRequest['message'];
  /** What the client calls the message. */
  uiMessageId: string;
}

/** A message that the server has: it is attached to, replayed, answered anew or changed. */
function sendKnown(
  dependencies: RouteDependencies,
  asked: Asked,
  { body, message, uiMessageId, turn, lastSeq }: Wanted & { turn: Turn; lastSeq: number },
): Promise<SendHandle> {
  const named = body.messageId ?? undefined;
  const isSame = saysTheSame(turn, message);
  if (body.trigger === 'regenerate-message') {
    if (!isTerminal(turn.state)) return goOn(dependencies, asked, turn);
    // The page shows another branch, where the message says something else.
    if (!isSame) return edit(dependencies, asked, { message, turn });
    const isAnswer = named !== undefined && seqOfId(named, 'm') !== undefined;
    const answer = isAnswer ? named : answerId(turn.seq);
    return regenerate(dependencies, asked, { turn, lastSeq, answer });
  }
  if (isSame) return goOn(dependencies, asked, turn);
  if (named === uiMessageId) return edit(dependencies, asked, { message, turn });
  return dependencies.sendMessage(dependencies, { ...asked, message });
}

/**
 * What `useChat` asks for, as the use cases know it. `submit-message` sends, and where the history that comes with it
 * is shorter than the server's, in the place of what is missing; the same message again attaches or replays; named in
 * `messageId` and changed, it is an edit. `regenerate-message` answers the last message of `messages` anew, or sends one that
 * the server does not have or has not answered yet: apps offer it as "try again".
 * An answer at the end, with outputs for its open calls, goes on. Throws what sending and answering calls throw.
 */
export async function sendUiMessage(
  dependencies: RouteDependencies,
  request: {
    caller: Caller;
    body: AiSdkChatBody;
    header: (name: string) => string | undefined;
  },
): Promise<SendHandle> {
  const { caller, body, header } = request;
  const { messages } = body;
  const conversationId = await openChat(dependencies, { caller, chatId: body.id });
  const options = askedOptions(body);
  const asked = {
    caller,
    conversationId,
    ...answerOptions(body, header),
    ...(options && { options }),
  };
  const given =
    body.trigger === 'submit-message'
      ? await giveOutputs(dependencies, asked, messages)
      : undefined;
  if (given) return given;
  const wanted = { body, ...lastUserMessage(dependencies, messages) };
  const messageId = wanted.message.id;
  const { conversation, turn } = await readStanding(dependencies, { ...asked, messageId });
  const { config } = dependencies;
  refuseLongAnswer(config, {
    model: body.config?.modelName ?? conversation?.model ?? config.MODEL,
    field: 'callSettings.maxTokens',
    maxOutputTokens: body.callSettings?.maxTokens,
  });
  const isAgain =
    turn !== undefined && body.trigger === 'submit-message' && saysTheSame(turn, wanted.message);
  if (!isAgain)
    await declareModelContext(dependencies, { caller, conversationId, conversation, body });
  const begins = await inPlaceOfLeft(dependencies, asked, conversation);
  return conversation && turn
    ? sendKnown(dependencies, begins, { ...wanted, turn, lastSeq: conversation.lastSeq })
    : sendNew(dependencies, begins, { ...wanted, conversation });
}
