import { z } from 'zod';
import type { Caller } from '#shared/ports/ports.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import {
  chatCompletionBody,
  type ChatCompletionBody,
  type OpenAiMessage,
} from '#shared/wire/facades/openai.ts';
import { conversationIdSchema } from '#shared/wire/fields.ts';
import { isWritable } from '#functions/chat/conversations/writable-fields.ts';
import { toLowerUuid } from '#shared/uuid.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { answerOptions } from '#functions/chat/routes/parts/message-body.ts';
import {
  findInstructions,
  instructionTexts,
  lastMessage,
  outputsAtEnd,
  type DialogueMessage,
} from '../translation/dialogue.ts';
import { sendDialogue, sendOutputs, type Header } from '../translation/send-dialogue.ts';
import {
  badField,
  ignoredFields,
  toAnswerOptions,
  toClientTools,
  toInstruction,
  toParts,
  type Wish,
} from '../translation/wish.ts';
import type { Completion } from './completion.ts';

interface Asked {
  caller: Caller;
  body: ChatCompletionBody;
  header: Header;
}

const headerSchema = z.object({ 'X-Conversation-Id': conversationIdSchema });

/** The conversation that a request names, in its body or else its header. Throws BAD_FIELD where it names none. */
function namedConversation({ body: { metadata }, header }: Asked): string {
  const named = header('x-conversation-id');
  if (metadata?.conversation_id !== undefined) return metadata.conversation_id;
  if (named !== undefined)
    return parseRequest(headerSchema, { 'X-Conversation-Id': named })['X-Conversation-Id'];
  throw badField(
    'metadata.conversation_id',
    '`metadata.conversation_id` is missing: every answer belongs to a conversation here. Draw a UUID with `crypto.randomUUID()`, keep it, and send it with each message of the dialogue, or in the header `X-Conversation-Id`; the first message creates the conversation.',
  );
}

function toDialogueMessage(message: OpenAiMessage, index: number): DialogueMessage {
  const { role, content } = message;
  const field = `messages[${index}].content`;
  switch (role) {
    case 'user':
    case 'assistant':
      return { role, content, field };
    case 'system':
    case 'developer':
      return { role: 'instruction', content, field: `messages[${index}]` };
    case 'tool': {
      const call = { id: message.tool_call_id, field: `messages[${index}].tool_call_id` };
      return { role: 'output', content, field, call };
    }
  }
}

function optionsOf(body: ChatCompletionBody): Wish['options'] {
  const { tool_choice: choice, response_format: format } = body;
  return toAnswerOptions({
    temperature: body.temperature,
    topP: body.top_p,
    seed: body.seed,
    stop: body.stop,
    effort: body.reasoning_effort,
    toolChoice: typeof choice === 'object' && choice ? { name: choice.function.name } : choice,
    format: format?.type,
    responseSchema: format?.type === 'json_schema' ? format.json_schema.schema : undefined,
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
  });
}

/**
 * Sends the last message of a request as the next one of a conversation, or answers calls of a turn with the messages of
 * tools that it ends with; what stands before it in the request is the client's own copy. Throws BAD_FIELD,
 * TEXT_TOO_LONG, and what sending, answering calls and declaring tools throw.
 */
export async function answerCompletion(
  dependencies: RouteDependencies,
  asked: Asked,
): Promise<Completion> {
  const { caller, body, header } = asked;
  const { config } = dependencies;
  const named = namedConversation(asked);
  const conversationId = toLowerUuid(named);
  const ignored = ignoredFields(body, new Set(Object.keys(chatCompletionBody.shape)));
  const messages = body.messages.map(toDialogueMessage);
  const instructions = findInstructions(messages).map(({ field }) => field);
  // Nearly every client brings an instruction: it is told, and nobody is turned away for it.
  if (!isWritable(config, 'systemInstruction')) ignored.push(...instructions);
  const sender = { caller, header, conversationId };
  const outputs = outputsAtEnd(messages);
  if (outputs.length > 0)
    return { answer: await sendOutputs(dependencies, sender, outputs), ignored };
  const last = lastMessage(messages, { joins: false, field: 'messages' });
  const wish: Wish = {
    parts: toParts(config, last.input, last.field),
    options: optionsOf(body),
    circumstances: answerOptions({ clientContext: body.metadata?.client_context }, header),
    tools: toClientTools((body.tools ?? []).map((tool) => tool.function)),
    systemInstruction: toInstruction(config, instructionTexts(messages), instructions[0] ?? ''),
    maxTokensField:
      typeof body.max_completion_tokens === 'number' ? 'max_completion_tokens' : 'max_tokens',
  };
  const shown = { turns: last.shown, isWhole: body.metadata?.history === 'whole' };
  const answer = await sendDialogue(dependencies, sender, { shown, said: last.said, wish });
  return { answer, ignored };
}
