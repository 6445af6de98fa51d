import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import type {
  ResponseOutputItem,
  ResponseResource,
} from '#shared/wire/facades/responses/response.ts';
import type { Clock } from '#shared/ports/ports.ts';
import type { Completion, CompletionResult } from '../openai/completion.ts';
import { restartedError } from '../openai/completion-events.ts';
import {
  callItems,
  answerEnd,
  messageItem,
  outputText,
  responseUsage,
} from './response-resource.ts';

/** An answer on its way, with what its events say of it. */
export interface Answering {
  completion: Completion;
  /** As it began. */
  response: ResponseResource;
  messageId: string;
  nameCall: (callId: string) => string;
  told: ToldAtEnd;
  /** What stands behind all that the model says. */
  after: readonly ResponseOutputItem[];
}

/** What a stored answer is told of its conversation when it ends. */
type ToldAtEnd = Pick<NonNullable<ResponseResource['recap']>, 'context' | 'approvals'>;

/** One event of the Responses API. */
export interface ResponseEvent {
  type: string;
  sequence_number: number;
  response?: ResponseResource;
  [field: string]: unknown;
}

type Unnumbered = Omit<ResponseEvent, 'sequence_number'> & { type: string };

/**
 * Sequence numbers that one frame of the answer may take. They follow from the frames: whoever comes back, to whichever
 * instance, finds the same number at the same event. So they rise, with gaps.
 */
const NUMBERS_PER_FRAME = 8;
const DELTA_PLACE = 2;
/** No text has a lower number: the first frame of an answer says nothing. */
const FIRST_DELTA = NUMBERS_PER_FRAME;

/** The frame that an event comes from. */
export const frameOfNumber = (sequenceNumber: number) =>
  Math.floor(sequenceNumber / NUMBERS_PER_FRAME);

interface EventOptions {
  clock: Pick<Clock, 'now'>;
  /** Fires when the reader has left. */
  left?: AbortSignal;
  /** Number of the last event that the client has. */
  after?: number | undefined;
}

const isRestart = (chunk: StreamChunk) =>
  chunk.type === 'data-notice' && chunk.data.kind === 'restarted';

/** What one frame adds to that. */
function withTold(told: ToldAtEnd, chunk: StreamChunk): ToldAtEnd {
  if (chunk.type === 'data-context') return { ...told, context: chunk.data };
  if (chunk.type !== 'data-notice' || chunk.data.kind !== 'approval') return told;
  const { callId, toolName } = chunk.data;
  const known = told.approvals ?? [];
  if (known.some((each) => each.callId === callId)) return told;
  return { ...told, approvals: [...known, { callId, toolName }] };
}

type MessageItem = Extract<ResponseOutputItem, { type: 'message' }>;

const place = { output_index: 0, content_index: 0 };

/** The events around the text of an answer. */
const textEvents = (id: string) => ({
  opening: (): Unnumbered[] => [
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: messageItem(id, [], 'in_progress'),
    },
    { type: 'response.content_part.added', item_id: id, ...place, part: outputText('') },
  ],
  delta: (delta: string): Unnumbered => ({
    type: 'response.output_text.delta',
    item_id: id,
    ...place,
    delta,
    logprobs: [],
  }),
  closing: (item: MessageItem): Unnumbered[] => {
    const part = item.content[0] ?? outputText('');
    return [
      ...part.annotations.map((annotation, index) => ({
        type: 'response.output_text.annotation.added',
        item_id: id,
        ...place,
        annotation_index: index,
        annotation,
      })),
      {
        type: 'response.output_text.done',
        item_id: id,
        ...place,
        text: part.text,
        logprobs: [],
      },
      { type: 'response.content_part.done', item_id: id, ...place, part },
      { type: 'response.output_item.done', output_index: 0, item },
    ];
  },
});

/** An item that is there as a whole. */
function wholeItem(item: ResponseOutputItem, index: number): Unnumbered[] {
  const done = { type: 'response.output_item.done', output_index: index, item };
  if (item.type !== 'function_call')
    return [{ type: 'response.output_item.added', output_index: index, item }, done];
  const { id, arguments: args } = item;
  const named = { item_id: id, output_index: index };
  const opened = { ...item, arguments: '', status: 'in_progress' };
  return [
    { type: 'response.output_item.added', output_index: index, item: opened },
    { type: 'response.function_call_arguments.delta', ...named, delta: args },
    { type: 'response.function_call_arguments.done', ...named, name: item.name, arguments: args },
    done,
  ];
}

/** What an answer says that waits for the user's word: libraries show no field of ours, and an empty text tells nothing. */
function waitingText(
  { completion: { recap } }: Answering,
  { approvals = [] }: ToldAtEnd,
): string | undefined {
  if (!recap || approvals.length === 0) return undefined;
  const names = [...new Set(approvals.map(({ toolName }) => toolName))].join(' and ');
  return `This answer waits until the user allows ${names}: POST /v1/conversations/${recap.conversationId}/turns/${recap.turnId}/toolResults.`;
}

/** The output of an answer: what it says, then what it calls. */
function outputOf(
  answering: Answering,
  result: CompletionResult,
  { told, isOpened }: { told: ToldAtEnd; isOpened: boolean },
): ResponseOutputItem[] {
  const { messageId, nameCall, after } = answering;
  const { toolCalls = [], citations } = result;
  const waiting = result.text === '' ? waitingText(answering, told) : undefined;
  const text = waiting ?? result.text;
  const { status } = answerEnd(result, told);
  const isSilent = text === '' && !isOpened && (toolCalls.length > 0 || status === 'cancelled');
  const said = messageItem(
    messageId,
    [outputText(text, citations)],
    status === 'completed' ? 'completed' : 'incomplete',
  );
  return [
    ...(isSilent ? [] : [said]),
    ...toolCalls.flatMap((call) => callItems(call, nameCall)),
    ...after,
  ];
}

/** The response as it ended. */
function endedResponse(
  answering: Answering,
  result: CompletionResult,
  { completedAt, told, isOpened }: { completedAt: Date; told: ToldAtEnd; isOpened: boolean },
): ResponseResource {
  const { response } = answering;
  const { recap } = response;
  const end = answerEnd(result, told);
  const { status } = end;
  return {
    ...response,
    ...end,
    completed_at: status === 'completed' ? Math.floor(completedAt.getTime() / 1_000) : null,
    output: outputOf(answering, result, { told, isOpened }),
    usage: result.usage ? responseUsage(result.usage) : null,
    ...(recap && { recap: { ...recap, ...told } }),
  };
}

function* closingEvents(
  answering: Answering,
  ended: ResponseResource,
  isOpened: boolean,
): Generator<Unnumbered> {
  const events = textEvents(answering.messageId);
  for (const [index, item] of ended.output.entries()) {
    if (item.type === 'message') {
      const text = item.content[0]?.text ?? '';
      if (!isOpened) yield* events.opening();
      if (!isOpened && text !== '') yield events.delta(text);
      yield* events.closing(item);
    } else yield* wholeItem(item, index);
  }
  const isWhole = ended.status === 'completed';
  yield { type: isWhole ? 'response.completed' : 'response.incomplete', response: ended };
}

/**
 * An answer as the events of the Responses API, in their order; the last one holds the whole of it. Throws what the
 * answer fails with.
 */
export async function* responseEvents(
  answering: Answering,
  { clock, left, after = -1 }: EventOptions,
): AsyncGenerator<ResponseEvent> {
  const { completion, response, messageId } = answering;
  const events = textEvents(messageId);
  let next = 0;
  let isOpened = false;
  let told = answering.told;
  const numbered = (event: Unnumbered, from = next): ResponseEvent => {
    next = Math.max(next, from) + 1;
    return { ...event, sequence_number: next - 1 };
  };
  yield numbered({ type: 'response.created', response });
  yield numbered({ type: 'response.in_progress', response });
  for await (const { id, chunk } of completion.frames(left)) {
    const base = id * NUMBERS_PER_FRAME;
    next = Math.max(next, base);
    if (isRestart(chunk) && (isOpened || after >= FIRST_DELTA)) throw restartedError(completion);
    told = withTold(told, chunk);
    if (chunk.type !== 'text-delta') continue;
    if (!isOpened) for (const event of events.opening()) yield numbered(event, base);
    isOpened = true;
    yield numbered(events.delta(chunk.delta), base + DELTA_PLACE);
  }
  if (left?.aborted) return;
  const result = await completion.result;
  const ended = endedResponse(answering, result, { completedAt: clock.now(), told, isOpened });
  for (const event of closingEvents(answering, ended, isOpened)) yield numbered(event);
}
