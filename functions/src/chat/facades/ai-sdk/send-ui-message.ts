import { type Turn, isTerminal } from '#shared/conversation/documents/turn.ts';
import { answerId, seqOfId } from '#shared/conversation/documents/paths.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { AiSdkChatBody } from '#shared/wire/facades/ai-sdk.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { answerOptions } from '#functions/chat/routes/parts/message-body.ts';
import type { SendHandle, SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { sendStored } from '#functions/chat/turns/send/send-stored.ts';
import { openChat } from './chat-names.ts';
import { toEditId, toRegenerationId, lastUserMessage } from './user-message.ts';
import { standingTurn } from './standing-turn.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { openToolOutputs } from './tool-outputs.ts';

type Asked = Omit<SendRequest, 'message' | 'replacing'>;

const saysTheSame = (turn: Turn, { parts }: SendRequest['message']) =>
  JSON.stringify(turn.user.parts) === JSON.stringify(parts);

/** Goes on with a turn as it is stored: attaches, replays or takes it over. */
const goOn = (dependencies: RouteDependencies, asked: Asked, turn: Turn): Promise<SendHandle> =>
  sendStored(dependencies, {
    caller: asked.caller,
    conversationId: asked.conversationId,
    locale: asked.locale,
    cursor: undefined,
    turn,
    sendMessage: dependencies.sendMessage,
  });

function regenerate(
  dependencies: RouteDependencies,
  asked: Asked,
  answer: string,
): Promise<SendHandle> {
  const { conversationId } = asked;
  const id = toRegenerationId(dependencies, { conversationId, answerId: answer });
  return dependencies.sendMessage(dependencies, {
    ...asked,
    message: { id, parts: [] },
    replacing: { kind: 'regenerate', messageId: answer },
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

/**
 * What `useChat` asks for, as the use cases know it. `submit-message` sends; the same message again attaches
 * or replays; named in `messageId` and changed, it is an edit. `regenerate-message` answers the last message
 * anew, or sends one that the server does not have or has not answered yet: apps offer it as "try again".
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
  const asked = { caller, conversationId, ...answerOptions(body, header) };
  const given =
    body.trigger === 'submit-message'
      ? await openToolOutputs(dependencies, { caller, conversationId, messages })
      : undefined;
  if (given) {
    const { locale } = asked;
    return answerCalls(dependencies, { caller, conversationId, ...given, locale });
  }
  const { message, uiMessageId } = lastUserMessage(dependencies, messages);
  const named = body.messageId ?? undefined;
  if (body.trigger === 'regenerate-message' && named !== undefined && seqOfId(named, 'm'))
    return regenerate(dependencies, asked, named);
  const turn = await standingTurn(dependencies, { caller, conversationId, messageId: message.id });
  if (!turn) return dependencies.sendMessage(dependencies, { ...asked, message });
  if (body.trigger === 'regenerate-message')
    return isTerminal(turn.state)
      ? regenerate(dependencies, asked, answerId(turn.seq))
      : goOn(dependencies, asked, turn);
  if (saysTheSame(turn, message)) return goOn(dependencies, asked, turn);
  if (named === uiMessageId) return edit(dependencies, asked, { message, turn });
  return dependencies.sendMessage(dependencies, { ...asked, message });
}
