import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { readClientTools } from '#shared/conversation/documents/declared-tools.ts';
import { seqOfId } from '#shared/conversation/documents/paths.ts';
import { singleLineJson } from '#shared/lib/json-text.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import type { CreateResponseBody } from '#shared/wire/facades/responses/request.ts';
import type {
  ResponseOutputItem,
  ResponseResource,
  ResponseUsage,
} from '#shared/wire/facades/responses/response.ts';
import type { UrlCitation } from '#shared/wire/sources.ts';
import { openAiFinish, openAiUsage } from '../openai/completion.ts';
import { openAiErrorReply } from '../openai/error-reply.ts';
import {
  heldFrames,
  streamText,
  type Answer,
  type AnswerStep,
  type StreamOptions,
  type WaitingCall,
} from '../translation/answer.ts';
import { placeText, storedCallId } from './stored-response.ts';

/** What a model of Google takes where nothing is asked for. */
const TEMPERATURE = 1;
const TOP_P = 0.95;

/** An answer as a response. */
export interface Responding {
  answer: Answer;
  /** As it began. */
  response: ResponseResource;
  /** What its id and that of its message have in common. */
  place: string;
}

const functionTool = (tool: {
  name?: string | undefined;
  description?: string | null | undefined;
  parameters?: Record<string, unknown> | null | undefined;
}): ResponseResource['tools'][number] => ({
  type: 'function',
  name: tool.name ?? '',
  description: tool.description ?? null,
  parameters: tool.parameters ?? null,
  strict: false,
});

const choiceOf = (choice: CreateResponseBody['tool_choice']): ResponseResource['tool_choice'] =>
  typeof choice === 'object' && choice
    ? { type: 'function', name: choice.name }
    : (choice ?? 'auto');

/** What a stored response was asked with, as far as its conversation knows: its instruction may be the operator's. */
export const storedRequest = (conversation: Conversation): Partial<CreateResponseBody> => ({
  tools: readClientTools(conversation).map(functionTool),
});

/** A response that has begun, with the request that it answers. */
export function beginResponse(
  answer: Answer,
  body: Partial<CreateResponseBody>,
  { answeredCalls, ignored }: { answeredCalls: number; ignored: readonly string[] },
): Responding {
  const { recap, created, model } = answer;
  const { conversationId, turnId } = recap;
  const place = placeText({ conversationId, seq: seqOfId(turnId, 't') ?? 0, answeredCalls });
  const response: ResponseResource = {
    id: `resp_${place}`,
    object: 'response',
    created_at: created,
    completed_at: null,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model,
    output: [],
    usage: null,
    conversation: { id: conversationId },
    instructions: body.instructions ?? null,
    previous_response_id: body.previous_response_id ?? null,
    tools: (body.tools ?? []).map(functionTool),
    tool_choice: choiceOf(body.tool_choice),
    truncation: body.truncation ?? 'disabled',
    text: { format: body.text?.format ?? { type: 'text' } },
    top_p: body.top_p ?? TOP_P,
    temperature: body.temperature ?? TEMPERATURE,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: null },
    max_output_tokens: body.max_output_tokens ?? null,
    store: true,
    background: body.background ?? false,
    metadata: body.metadata ?? {},
    parallel_tool_calls: true,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    max_tool_calls: null,
    service_tier: 'default',
    safety_identifier: null,
    prompt_cache_key: null,
    recap,
    ...(ignored.length > 0 && { ignored: [...ignored] }),
  };
  return { answer, response, place };
}

/** Tokens in the words of this protocol; both count them alike. */
function responseUsage(usage: ModelUsage): ResponseUsage {
  const { prompt_tokens, completion_tokens, total_tokens, ...details } = openAiUsage(usage);
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: details.prompt_tokens_details,
    output_tokens: completion_tokens,
    output_tokens_details: details.completion_tokens_details,
    total_tokens,
  };
}

type MessageItem = Extract<ResponseOutputItem, { type: 'message' }>;
type CallItem = Extract<ResponseOutputItem, { type: 'function_call' }>;
type OutputText = MessageItem['content'][number];

const outputText = (text: string, citations: readonly UrlCitation[] = []): OutputText => ({
  type: 'output_text',
  text,
  annotations: citations.map((citation) => ({ type: 'url_citation', ...citation })),
  logprobs: [],
});

const messageItem = (
  place: string,
  content: OutputText[],
  status: MessageItem['status'],
): MessageItem => ({ type: 'message', id: `msg_${place}`, status, role: 'assistant', content });

const callItem = (conversationId: string, { callId, name, args }: WaitingCall): CallItem => {
  const id = storedCallId(conversationId, callId);
  return {
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    arguments: JSON.stringify(args),
    status: 'completed',
  };
};

type End = Pick<ResponseResource, 'status' | 'incomplete_details'>;

const incomplete = (reason: NonNullable<End['incomplete_details']>['reason']): End => ({
  status: 'incomplete',
  incomplete_details: { reason },
});

/** How an answer ended. What was stopped has no reason of the model; what waits for the user's word is not whole. */
function endOf(step: AnswerStep): End {
  const completed: End = { status: 'completed', incomplete_details: null };
  if (step.calls.length > 0) return completed;
  if (step.approvals.length > 0) return incomplete('approval_required');
  if (step.finishReason === undefined) return { status: 'cancelled', incomplete_details: null };
  switch (openAiFinish(step)) {
    case 'length':
      return incomplete('max_output_tokens');
    case 'content_filter':
      return incomplete('content_filter');
    case 'stop':
    case 'tool_calls':
      return completed;
  }
}

/** What an answer says that waits for the user's word: libraries show no field of ours, and an empty text tells nothing. */
function textOf({ recap: { conversationId, turnId } }: Answer, step: AnswerStep): string {
  if (step.text !== '' || step.approvals.length === 0) return step.text;
  const names = [...new Set(step.approvals.map(({ name }) => name))].join(' and ');
  return `This answer waits until the user allows ${names}: POST /v1/conversations/${conversationId}/turns/${turnId}/toolResults.`;
}

/** The response as it ended: what it says, then what it calls. `isOpened`: words of it were streamed. */
function endedResponse(
  { answer, response, place }: Responding,
  step: AnswerStep,
  isOpened: boolean,
): ResponseResource {
  const { calls, approvals, context, usage, citations, endTime } = step;
  const { recap } = answer;
  const end = endOf(step);
  const isWhole = end.status === 'completed';
  const text = textOf(answer, step);
  const isSilent = text === '' && !isOpened && (calls.length > 0 || end.status === 'cancelled');
  const content = [outputText(text, citations)];
  const message = messageItem(place, content, isWhole ? 'completed' : 'incomplete');
  const asked = approvals.map(({ callId, name }) => ({ callId, toolName: name }));
  return {
    ...response,
    ...end,
    completed_at: isWhole ? Math.floor(endTime.getTime() / 1_000) : null,
    output: [
      ...(isSilent ? [] : [message]),
      ...calls.map((call) => callItem(recap.conversationId, call)),
    ],
    usage: usage ? responseUsage(usage) : null,
    recap: { ...recap, ...(context && { context }), ...(asked.length > 0 && { approvals: asked }) },
  };
}

/** The whole response. Throws what the answer fails with. */
export const responseBody = async (responding: Responding): Promise<ResponseResource> =>
  endedResponse(responding, await responding.answer.step(), false);

/** The response of an answer that failed after it began. */
export function failedResponse(
  { response }: Responding,
  error: unknown,
  docsUrl: string | undefined,
): ResponseResource {
  const { code, message, param, type } = openAiErrorReply(error, docsUrl).body.error;
  return { ...response, status: 'failed', error: { code, message, param, type } };
}

interface ResponseEvent {
  type: string;
  [field: string]: unknown;
}

const place0 = { output_index: 0, content_index: 0 };

const openingEvents = (place: string): ResponseEvent[] => [
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: messageItem(place, [], 'in_progress'),
  },
  {
    type: 'response.content_part.added',
    item_id: `msg_${place}`,
    ...place0,
    part: outputText(''),
  },
];

const deltaEvent = (place: string, delta: string): ResponseEvent => ({
  type: 'response.output_text.delta',
  item_id: `msg_${place}`,
  ...place0,
  delta,
  logprobs: [],
});

function closingEvents(item: MessageItem): ResponseEvent[] {
  const { id, content } = item;
  const part = content[0] ?? outputText('');
  const named = { item_id: id, ...place0 };
  return [
    ...part.annotations.map((annotation, index) => ({
      type: 'response.output_text.annotation.added',
      ...named,
      annotation_index: index,
      annotation,
    })),
    { type: 'response.output_text.done', ...named, text: part.text, logprobs: [] },
    { type: 'response.content_part.done', ...named, part },
    { type: 'response.output_item.done', output_index: 0, item },
  ];
}

function callEvents(item: CallItem, index: number): ResponseEvent[] {
  const { id, name, arguments: args } = item;
  const named = { item_id: id, output_index: index };
  const opened = { ...item, arguments: '', status: 'in_progress' };
  return [
    { type: 'response.output_item.added', output_index: index, item: opened },
    { type: 'response.function_call_arguments.delta', ...named, delta: args },
    { type: 'response.function_call_arguments.done', ...named, name, arguments: args },
    { type: 'response.output_item.done', output_index: index, item },
  ];
}

/** What ends a stream: the rest of the message, the calls, and the whole of it. */
function lastEvents(place: string, ended: ResponseResource, isOpened: boolean): ResponseEvent[] {
  const items = ended.output.flatMap((item, index) => {
    if (item.type !== 'message') return callEvents(item, index);
    const text = item.content[0]?.text ?? '';
    const opening = isOpened ? [] : openingEvents(place);
    const told = isOpened || text === '' ? [] : [deltaEvent(place, text)];
    return [...opening, ...told, ...closingEvents(item)];
  });
  const isWhole = ended.status === 'completed';
  const type = isWhole ? 'response.completed' : 'response.incomplete';
  return [...items, { type, response: ended }];
}

/**
 * Sequence numbers that one frame of the answer may take. They follow from the frames: whoever comes back, to whichever
 * instance, finds the same number at the same event. So they rise, with gaps.
 */
const NUMBERS_PER_FRAME = 8;
const DELTA_PLACE = 2;

/** The frame that an event comes from. */
export const frameOfNumber = (sequenceNumber: number) =>
  Math.floor(sequenceNumber / NUMBERS_PER_FRAME);

/** A comment: every reader of events drops it, and an event of silence would take a sequence number. */
const SILENCE = ': keep-alive\n\n';
const DONE = 'data: [DONE]\n\n';

interface NumberedEvent extends ResponseEvent {
  sequence_number: number;
}

/** Gives events their numbers, one after the other, in a new frame from that frame's on. */
function createNumbering() {
  let next = 0;
  return {
    skipTo: (number: number) => void (next = Math.max(next, number)),
    number: (event: ResponseEvent): NumberedEvent => ({ ...event, sequence_number: next++ }),
  };
}

type Numbering = ReturnType<typeof createNumbering>;

/** An answer as events, in their order; the last one holds the whole of it. Throws what the answer fails with. */
async function* responseEvents(
  responding: Responding,
  { skipTo, number }: Numbering,
  { left, after }: { left: AbortSignal; after: number },
): AsyncGenerator<NumberedEvent> {
  const { answer, response, place } = responding;
  let isOpened = false;
  yield number({ type: 'response.created', response });
  yield number({ type: 'response.in_progress', response });
  // No text has a number of the first frame, which says nothing.
  const hasText = frameOfNumber(after) > 0;
  for await (const { id, chunk } of heldFrames(answer, { left, hasText })) {
    skipTo(id * NUMBERS_PER_FRAME);
    if (chunk.type !== 'text-delta') continue;
    if (!isOpened) for (const event of openingEvents(place)) yield number(event);
    isOpened = true;
    skipTo(id * NUMBERS_PER_FRAME + DELTA_PLACE);
    yield number(deltaEvent(place, chunk.delta));
  }
  if (left.aborted) return;
  const ended = endedResponse(responding, await answer.step(), isOpened);
  for (const event of lastEvents(place, ended, isOpened)) yield number(event);
}

const eventText = (event: NumberedEvent) =>
  `event: ${event.type}\ndata: ${singleLineJson(event)}\n\n`;

/** The text of a stream of events: those with a number above `after`. What fails ends as `response.failed`. */
export function responseText(
  responding: Responding,
  { after = -1, ...options }: StreamOptions & { after?: number | undefined },
): AsyncGenerator<string> {
  const numbering = createNumbering();
  const { left, docsUrl } = options;
  async function* texts() {
    for await (const event of responseEvents(responding, numbering, { left, after }))
      if (event.sequence_number > after) yield eventText(event);
    if (!left.aborted) yield DONE;
  }
  const failed = (error: unknown) => {
    const response = failedResponse(responding, error, docsUrl);
    return eventText(numbering.number({ type: 'response.failed', response })) + DONE;
  };
  return streamText(texts(), { silence: SILENCE, failed }, options);
}
