import { contentText } from '../../../../../shared/conversation/content.ts';
import { headPath } from '../../../../../shared/conversation/paths.ts';
import { AppError } from '../../../../../shared/errors.ts';
import type { Caller } from '../../../../../shared/ports.ts';
import type { ChatCompletionBody } from '../../../../../shared/wire/requests/openai.ts';
import type { RouteDependencies } from '../../route.ts';
import { answerOptions } from '../../routes/message-body.ts';
import type { SendHandle } from '../../send/send-request.ts';
import { settled } from '../../settled.ts';
import type { Completion, CompletionResult } from './completion.ts';
import { userPartsOf } from './message-content.ts';
import { messageIdOf, readOwnHead } from './message-id.ts';

const badField = (field: string, publicMessage: string) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    message: `a chat completion of a conversation was refused for its ${field}`,
    publicMessage,
    metadata: { field },
  });

async function resultOf({ result }: SendHandle): Promise<CompletionResult> {
  const { turn } = await result;
  const { finishReason, usage } = turn;
  return { text: turn.contents.map(contentText).join(''), finishReason, usage };
}

/**
 * Sends the last message of a request as the next one of a conversation; what stands before it in the request
 * is the client's own copy. Throws BAD_FIELD, TEXT_TOO_LONG, and what sending throws.
 */
export async function storedCompletion(
  dependencies: RouteDependencies,
  request: {
    caller: Caller;
    conversationId: string;
    body: ChatCompletionBody;
    header: (name: string) => string | undefined;
  },
): Promise<Completion> {
  const { caller, conversationId, body, header } = request;
  const {
    MAX_PART_BYTES: maxPartBytes,
    MAX_MESSAGE_BYTES: maxMessageBytes,
    MODEL,
  } = dependencies.config;
  const { messages } = body;
  const last = messages.at(-1);
  if (last?.role !== 'user')
    throw badField('messages', '`messages` must end with a message of the role `user`.');
  if (body.response_format && body.response_format.type !== 'text')
    throw badField(
      'response_format',
      '`response_format` is not taken for a conversation. Remove it.',
    );
  const parts = userPartsOf(last, { maxPartBytes, maxMessageBytes }, messages.length - 1);
  if (parts.length === 0)
    throw badField(`messages[${messages.length - 1}].content`, 'The last message says nothing.');
  const path = headPath(conversationId);
  const head = await readOwnHead(dependencies, { uid: caller.uid, path });
  const id = await messageIdOf(dependencies, { conversationId, messages, head, header });
  const handle = await dependencies.sendMessage(dependencies, {
    caller,
    conversationId,
    message: { id, parts },
    ...answerOptions({ clientContext: body.metadata?.client_context }, header),
  });
  const { turnId, generation } = handle;
  return {
    id: `chatcmpl-${conversationId}-${turnId}`,
    created: Math.floor(dependencies.clock.now().getTime() / 1_000),
    model: head?.model ?? MODEL,
    recap: { conversationId, turnId, generation },
    frames: (left) => handle.frames(left),
    attend: (left) => handle.attend(left),
    result: settled(resultOf(handle)),
  };
}
