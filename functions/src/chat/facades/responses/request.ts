import { badField } from '#shared/lib/errors.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { isWritable } from '#functions/chat/conversations/writable-fields.ts';
import {
  instructionTexts,
  lastMessage,
  outputsAtEnd,
  type DialogueMessage,
  isRetry,
  KEY_HEADER,
  keyedMessageId,
  messageIdAfter,
  RETRIES_HEADER,
  sendDialogue,
  sendOutputs,
  type Header,
} from '#functions/chat/facades/translation/dialogue.ts';
import {
  findTurnOfMessage,
  type GivenOutput,
  ignoredFields,
  toAnswerOptions,
  toClientTools,
  toInstruction,
  toParts,
  type Wish,
} from '#functions/chat/facades/translation/wish.ts';
import { answerOptions } from '#functions/chat/routes/answering.ts';
import { answerId } from '#shared/conversation/documents/paths.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import { clientContextText } from '#shared/wire/facades/openai.ts';
import {
  createResponseBody,
  type CreateResponseBody,
  type ResponsesInputItem,
} from '#shared/wire/facades/responses/request.ts';
import { findBegunSince, openNamed, openNew } from '../chat-names.ts';
import { countAnswered, type Answer } from '../translation/answer.ts';
import { findStoredCall, toResponsePlace, type ResponsePlace } from './stored-response.ts';
import { z } from 'zod';

interface Asked {
  caller: Caller;
  body: CreateResponseBody;
  header: Header;
}

/** An item as a message of a dialogue; nothing for one that says nothing by itself. */
function toDialogueMessages(item: ResponsesInputItem, index: number): DialogueMessage[] {
  const field = `input[${index}]`;
  switch (item.type) {
    case 'message': {
      const { role, content } = item;
      const isInstruction = role === 'system' || role === 'developer';
      return [{ role: isInstruction ? 'instruction' : role, content, field: `${field}.content` }];
    }
    case 'function_call_output': {
      const call = { id: item.call_id, field: `${field}.call_id` };
      return [{ role: 'output', content: item.output, field: `${field}.output`, call }];
    }
    case 'function_call':
    case 'reasoning':
    case 'item_reference':
      return [];
  }
}

const described = z.object({ metadata: z.looseObject({ client_context: clientContextText }) });

/** `metadata.client_context` is what the model shall know of the moment, as in chat completions. Throws BAD_FIELD. */
const clientContextOf = ({ metadata }: CreateResponseBody) =>
  metadata?.['client_context'] === undefined
    ? undefined
    : parseRequest(described, { metadata }).metadata.client_context;

function optionsOf(body: CreateResponseBody): Wish['options'] {
  const { tool_choice: choice } = body;
  const format = body.text?.format;
  return toAnswerOptions({
    temperature: body.temperature,
    topP: body.top_p,
    effort: body.reasoning?.effort,
    toolChoice: typeof choice === 'object' && choice ? { name: choice.name } : choice,
    format: format?.type,
    responseSchema: format?.type === 'json_schema' ? format.schema : undefined,
    maxOutputTokens: body.max_output_tokens,
  });
}

/** Throws BAD_FIELD for what OpenAI does with a request and this server does not. */
function refuseUnsupported(body: CreateResponseBody): void {
  const { include, reasoning, store, background, stream, context_management: managed } = body;
  const index = (body.tools ?? []).findIndex(({ type }) => type !== 'function');
  const unsupported: [isAsked: boolean, field: string, remedy: string][] = [
    [
      index >= 0,
      `tools[${index}].type`,
      'Declare a tool of the type `function`, which the app runs',
    ],
    [
      store === false,
      'store',
      'Leave it out, and delete the conversation where nothing shall stay',
    ],
    [background === true && stream !== true, 'background', 'Set `stream`, or leave it out'],
    [
      (managed ?? []).length > 0,
      'context_management',
      'Leave it out: the server compacts by itself',
    ],
    [
      (include ?? []).some((each) => each !== 'reasoning.encrypted_content'),
      'include',
      'Leave it out',
    ],
    [
      Boolean(reasoning?.summary ?? reasoning?.generate_summary),
      'reasoning.summary',
      'Leave it out',
    ],
  ];
  for (const [isAsked, field, remedy] of unsupported)
    if (isAsked) throw badField(field, `\`${field}\` is not supported so. ${remedy}.`);
}

/** Fields without effect, for the answer to name. Throws BAD_FIELD for what asks for something that is not done. */
function ignoredOf(
  { config }: Pick<RouteDependencies, 'config'>,
  body: CreateResponseBody,
): string[] {
  refuseUnsupported(body);
  const { text, instructions, metadata } = body;
  const isTold = typeof instructions === 'string' && instructions !== '';
  return [
    ...ignoredFields(body, new Set(Object.keys(createResponseBody.shape))),
    ...((text?.verbosity ?? 'medium') === 'medium' ? [] : ['text.verbosity']),
    ...(Object.keys(metadata ?? {}).some((key) => key !== 'client_context') ? ['metadata'] : []),
    ...(isTold && !isWritable(config, 'systemInstruction') ? ['instructions'] : []),
  ];
}

/** The place that a request names in one of two ways. Throws BAD_FIELD for both, RESPONSE_NOT_FOUND. */
function namedPlace({ body }: Asked): string | ResponsePlace | undefined {
  const { conversation, previous_response_id: previous } = body;
  const isPrevious = typeof previous === 'string' && previous !== '';
  if (typeof conversation !== 'string')
    return isPrevious ? toResponsePlace(previous, 'previous_response_id') : undefined;
  if (!isPrevious) return conversation;
  throw badField(
    'previous_response_id',
    '`previous_response_id` and `conversation` name two places. Give one of them.',
  );
}

/** Answers calls of a turn, whose ids name the conversation. Throws BAD_FIELD for calls of several, or of another one. */
function answerOutputs(
  dependencies: RouteDependencies,
  asked: Asked,
  outputs: readonly GivenOutput[],
): Promise<Answer> {
  const { caller, header } = asked;
  const calls = outputs.map((output) => {
    const call = findStoredCall(output.callId);
    if (call) return { ...output, ...call };
    throw badField(
      output.callField,
      `\`${output.callField}\` is no call of an answer of this server. Send what tools gave under the \`call_id\` of the response.`,
    );
  });
  const named = namedPlace(asked);
  const other = typeof named === 'string' ? named : named?.conversationId;
  const places = [...calls.map((call) => call.conversationId), ...(other ? [other] : [])];
  const [conversationId = '', ...others] = places.map((place) => place.toLowerCase());
  if (others.some((place) => place !== conversationId))
    throw badField(
      'input',
      '`input` answers calls of another conversation, or of several. Answer the calls of one by themselves, without `conversation` and `previous_response_id`: their ids name it.',
    );
  return sendOutputs(dependencies, { caller, header, conversationId }, calls);
}

/** The conversation that a message goes to, and its id where that does not follow from its place there. */
interface MessageTarget {
  conversationId: string;
  messageId?: string;
}

/**
 * Goes on behind an answer. Behind the last one that is its conversation; behind an earlier one a fork that ends
 * there, always the same one for the same message.
 */
async function behindAnswer(
  dependencies: RouteDependencies,
  { caller, header }: Asked,
  place: ResponsePlace & { said: unknown; options: Wish['options'] },
): Promise<MessageTarget> {
  const { conversationId, seq } = place;
  const { conversation } = await readOwnConversation(dependencies, { caller, conversationId });
  const messageId =
    keyedMessageId(dependencies, `${conversationId}_${seq}`, header) ??
    messageIdAfter(dependencies, place)(seq);
  if (conversation.value.lastSeq <= seq) return { conversationId, messageId };
  const sent = await findTurnOfMessage(dependencies, conversationId, messageId);
  if (sent && sent.seq > seq) return { conversationId, messageId };
  const chatId = `responses:fork:${conversationId}:${messageId}`;
  const id = await openNamed(dependencies, { caller, chatId });
  const source = { caller, conversationId, messageId: answerId(seq) };
  const fork = await forkConversation(dependencies, { ...source, id });
  return { conversationId: fork.conversationId, messageId };
}

/** How long after a request its retry is looked for, ms. */
const RETRIED_WITHIN_MS = 3_600_000;

/**
 * The conversation that a message begins: one for each `Idempotency-Key` of a user, else a new one with each request. An
 * SDK that counts its retries is answered in the newest one that began with the same request, unless that was deleted or
 * has gone on: then the first try never came here.
 */
async function newConversation(
  dependencies: RouteDependencies,
  { caller, body, header }: Asked,
): Promise<string> {
  const { sha256, clock, randomness } = dependencies;
  const key = header(KEY_HEADER)?.trim() ?? '';
  if (key !== '') return openNamed(dependencies, { caller, chatId: `responses:key:${key}` });
  if (header(RETRIES_HEADER) === undefined) return randomness.uuid();
  const chat = { caller, chatId: `responses:request:${sha256(JSON.stringify(body))}` };
  const since = new Date(clock.now().getTime() - RETRIED_WITHIN_MS);
  const retried = isRetry(header)
    ? await findBegunSince(dependencies, { ...chat, since })
    : undefined;
  return retried ?? openNew(dependencies, chat);
}

/** Sends the message that a request ends with. */
async function answerMessage(
  dependencies: RouteDependencies,
  asked: Asked,
  messages: readonly DialogueMessage[],
): Promise<Answer> {
  const { config } = dependencies;
  const { caller, body, header } = asked;
  const { instructions } = body;
  const last = lastMessage(messages, { joins: true, field: 'input' });
  const { said, shown: turns } = last;
  const wish: Wish = {
    parts: toParts(config, last.input, last.field),
    options: optionsOf(body),
    circumstances: answerOptions({ clientContext: clientContextOf(body) }, header),
    tools: toClientTools(body.tools ?? []),
    systemInstruction: toInstruction(
      config,
      [instructions ?? '', ...instructionTexts(messages)],
      typeof instructions === 'string' ? 'instructions' : 'input',
    ),
    maxTokensField: 'max_output_tokens',
  };
  const targetOf = async (): Promise<MessageTarget> => {
    const named = namedPlace(asked);
    if (typeof named === 'string') return { conversationId: toLowerUuid(named) };
    if (named) return behindAnswer(dependencies, asked, { ...named, said, options: wish.options });
    if (turns.length === 0) return { conversationId: await newConversation(dependencies, asked) };
    throw badField(
      'input',
      '`input` tells a dialogue, and nothing names its conversation, which holds what was said. Send the new message alone, with the `conversation` of an earlier response, or its `id` as `previous_response_id`.',
    );
  };
  const sender = { caller, header, ...(await targetOf()) };
  return sendDialogue(dependencies, sender, { shown: { turns, isWhole: false }, said, wish });
}

/**
 * Answers a request of the Responses API: sends the message that it ends with, or answers calls with the outputs at its
 * end. Throws BAD_FIELD, RESPONSE_NOT_FOUND, and what sending, answering calls, declaring tools and a fork throw.
 */
export async function answerResponse(
  dependencies: RouteDependencies,
  asked: Asked,
): Promise<{ answer: Answer; answeredCalls: number; ignored: string[] }> {
  const { input } = asked.body;
  const messages: DialogueMessage[] =
    typeof input === 'string'
      ? [{ role: 'user', content: input, field: 'input' }]
      : input.flatMap(toDialogueMessages);
  const ignored = ignoredOf(dependencies, asked.body);
  const outputs = outputsAtEnd(messages);
  const answer =
    outputs.length > 0
      ? await answerOutputs(dependencies, asked, outputs)
      : await answerMessage(dependencies, asked, messages);
  return { answer, answeredCalls: countAnswered(outputs.map(({ callId }) => callId)), ignored };
}
