import { decodeAnswerOptions } from '#shared/models/answer-options.ts';
import { answerId } from '#shared/conversation/documents/paths.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { notFoundError } from '#functions/chat/not-found.ts';
import type { SendHandle, SendMessage, SendRequest } from './send-request.ts';

interface Sender {
  caller: Caller;
  conversationId: string;
  locale: string | undefined;
  cursor: number | undefined;
  isReader?: true;
}

/** What was sent, as far as it is needed to go on with its turn. */
export function storedRequest({ locale, ...sender }: Sender, turn: Turn): SendRequest {
  const { messageId, user, retention, replaces, regenerates, options } = turn;
  const kind = regenerates === undefined ? 'edit' : 'regenerate';
  return {
    ...sender,
    message: { id: messageId, parts: user.parts, ...(retention && { retention }) },
    ...(options !== undefined && { options: decodeAnswerOptions(options) }),
    ...(locale !== undefined && { locale }),
    ...(replaces !== undefined && { replacing: { kind, messageId: answerId(replaces) } }),
    isStored: true,
  };
}

/**
 * Sends the message of a turn again as it is stored, for one who reads and has no message at hand: takes
 * over a turn that nobody answers, finds who does, or replays what came of it. Throws what sending throws.
 */
export async function sendStored(
  dependencies: ChatDependencies,
  input: Sender & { turn: Pick<Turn, 'seq'>; sendMessage: SendMessage },
): Promise<SendHandle> {
  const { turn: named, sendMessage, ...sender } = input;
  const { conversationId } = sender;
  const [turn] = await readTurns(dependencies.store, conversationId, [named.seq]);
  if (!turn) throw notFoundError(conversationId);
  return sendMessage(dependencies, storedRequest(sender, turn.value));
}
