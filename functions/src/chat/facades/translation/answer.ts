import type { RouteDependencies, Reply } from '#functions/chat/route.ts';
import { EVENT_HEADERS } from '#functions/chat/http/headers.ts';
import {
  HEARTBEAT_DUE,
  withHeartbeats,
  type HeartbeatOptions,
} from '#functions/chat/http/heartbeat.ts';
import { usageBeyond } from '#functions/chat/turns/usage.ts';
import type { SendHandle } from '#functions/chat/turns/send/send-request.ts';
import { unwatched, watchReader } from './leaving.ts';
import { settlesWithin } from '#functions/lib/deadline.ts';
import { callId, findCalls, type ToolCall } from '#shared/conversation/context/tool-calls.ts';
import { waitingCalls } from '#shared/conversation/context/tool-results.ts';
import { contentText } from '#shared/models/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { seqOfId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import type { RecapField } from '#shared/wire/facades/openai.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { StreamChunk, StreamFrame } from '#shared/wire/resources/streams.ts';
import { urlCitations, type UrlCitation } from '#shared/wire/sources.ts';

/*
 * An answer in the words that OpenAI's protocols have in common. A turn with calls of the app is several answers there: one
 * ends with calls, the next one begins behind what the app gave to them, and nothing that was said before may stand in it.
 */

/** A call that waits for the app, or for the user's word. */
export interface WaitingCall {
  callId: string;
  name: string;
  args: Record<string, unknown>;
}

/** What one answer says. */
export interface AnswerStep {
  text: string;
  /** What the app has to do before the turn goes on. */
  calls: readonly WaitingCall[];
  /** Calls of the server that the user has to allow. */
  approvals: readonly WaitingCall[];
  /** As the model gave it; undefined for an answer that was stopped. */
  finishReason: string | undefined;
  usage: ModelUsage | undefined;
  /** What the text rests on. */
  citations: readonly UrlCitation[];
  /** All of its calls were answered: the turn has gone on behind them. */
  isPassed: boolean;
  endTime: Date;
  /** The size of the context, where it was counted for this request. */
  context?: ContextObject;
}

const toWaiting = ({ seq }: Turn, { index, name, args }: ToolCall): WaitingCall => ({
  callId: callId(seq, index),
  name,
  args,
});

/**
 * What a turn says behind the calls below `answeredCalls`, up to the next ones that wait for the app; 0: from its
 * beginning.
 */
export function readStep(turn: Turn, answeredCalls: number): AnswerStep {
  const { contents, rounds, finishReason, grounding } = turn;
  const isOfApp = ({ index }: ToolCall) => rounds?.app.includes(index) === true;
  const allCalls = findCalls(contents);
  const waiting = waitingCalls(turn);
  let textSoFar = '';
  /** Where the text of this step begins in all of the text. */
  let from = 0;
  let callCount = 0;
  let roundCount = 0;
  let usageBefore: ModelUsage | undefined;
  const step = (calls: readonly ToolCall[], usage = turn.usage): AnswerStep => {
    const text = textSoFar.slice(from);
    return {
      text,
      calls: calls.map((call) => toWaiting(turn, call)),
      approvals: waiting.filter((call) => !isOfApp(call)).map((call) => toWaiting(turn, call)),
      finishReason,
      usage: usageBeyond(usage, usageBefore),
      citations: urlCitations(grounding, { text, from }),
      isPassed: calls.length > 0 && calls.every(({ response }) => response !== undefined),
      endTime: turn.finishTime ?? turn.createTime,
    };
  };
  for (const content of contents) {
    if (content.role !== 'model') continue;
    textSoFar += contentText(content);
    const callsBefore = callCount;
    callCount += content.parts.filter(({ functionCall }) => functionCall !== undefined).length;
    if (callCount === callsBefore) continue;
    const usageThen = rounds?.usages?.[roundCount];
    roundCount += 1;
    if (callsBefore < answeredCalls) {
      from = textSoFar.length;
      usageBefore = usageThen;
    }
    const appCalls = allCalls
      .slice(callsBefore, callCount)
      .filter((call) => call.index >= answeredCalls && isOfApp(call));
    if (appCalls.length > 0) return step(appCalls, usageThen);
  }
  return step(waiting.filter(isOfApp));
}

/** An answer on its way, or as it is stored. */
export interface Answer {
  /** Where it stands. */
  recap: RecapField;
  /** Unix time, seconds. */
  created: number;
  model: string;
  /** From the first frame on, then live, until the end or until the reader has `left`. */
  frames: (left?: AbortSignal) => AsyncIterable<StreamFrame>;
  /** Counts a connection that waits for the answer, until it closes (`left`). */
  subscribe: (left: AbortSignal) => void;
  /** What came of it; to be asked for after the last frame. Rejects with AppError when there is no answer. */
  step: () => Promise<AnswerStep>;
  /** What must end before the request counts as served. */
  work: Promise<unknown>;
}

const isRestart = (chunk: StreamChunk) =>
  chunk.type === 'data-notice' && chunk.data.kind === 'restarted';

const indexOfCall = (id: string): number => Number(/_c(\d+)$/.exec(id)?.[1] ?? -1);

/** How many calls of a turn stand before the answer to these: a client may answer them in any order. */
export const countAnswered = (ids: readonly string[]): number =>
  Math.max(0, ...ids.map((id) => indexOfCall(id) + 1));

/**
 * The frames of the step behind these calls: without the text before the responses to all of them, and to the next
 * response of the app, behind which a replay of the turn tells the step after it.
 */
export async function* framesOfStep(
  frames: AsyncIterable<StreamFrame>,
  answered: readonly string[],
): AsyncGenerator<StreamFrame> {
  const first = countAnswered(answered);
  let open = new Set(answered);
  for await (const frame of frames) {
    const { chunk } = frame;
    if (isRestart(chunk)) open = new Set(answered);
    if (chunk.type === 'tool-output-available' || chunk.type === 'tool-output-error') {
      open.delete(chunk.toolCallId);
      if (chunk.providerExecuted !== true && indexOfCall(chunk.toolCallId) >= first) return;
    }
    if (open.size === 0 || chunk.type !== 'text-delta') yield frame;
  }
}

/** The answer to a message, or what follows the calls that were `answered`. */
export function toAnswer(
  { clock, config }: Pick<RouteDependencies, 'clock' | 'config'>,
  sent: { handle: SendHandle; conversation: Conversation | undefined; answered: readonly string[] },
): Answer {
  const { handle, conversation, answered } = sent;
  const { conversationId, turnId, generation, replayed } = handle;
  return {
    recap: { conversationId, turnId, generation, ...(replayed && { replayed }) },
    created: Math.floor(clock.now().getTime() / 1_000),
    model: conversation?.model ?? config.MODEL,
    frames: (left) => framesOfStep(handle.frames(left), answered),
    subscribe: (left) => handle.subscribe(left),
    step: async () => {
      const { turn, context } = await handle.result;
      return { ...readStep(turn, countAnswered(answered)), context };
    },
    work: handle.result,
  };
}

/** What was said in the stream does not hold any more, and these protocols cannot take it back. */
const restartedError = ({ recap: { turnId } }: Answer) =>
  new AppError({
    reason: 'ANSWER_RESTARTED',
    message: `${turnId} began anew while it was streamed`,
    publicMessage: 'The answer was begun anew. Send the same request again to get it.',
  });

/**
 * The frames of an answer as far as a reader has to know of a new beginning. `hasText`: the reader has words of it
 * already. Throws ANSWER_RESTARTED where words do not hold any more.
 */
export async function* heldFrames(
  answer: Answer,
  { left, hasText = false }: { left?: AbortSignal | undefined; hasText?: boolean },
): AsyncGenerator<StreamFrame> {
  let isSaid = hasText;
  for await (const frame of answer.frames(left)) {
    if (isSaid && isRestart(frame.chunk)) throw restartedError(answer);
    isSaid ||= frame.chunk.type === 'text-delta';
    yield frame;
  }
}

/**
 * The text of an event stream in any protocol: events as they come, `silence` whenever none has come for a while, and
 * what `failed` makes of an error. Never throws.
 */
export async function* streamText(
  events: AsyncIterable<string>,
  words: { silence: string; failed: (error: unknown) => string },
  options: HeartbeatOptions,
): AsyncGenerator<string> {
  try {
    for await (const next of withHeartbeats(events, options))
      yield next === HEARTBEAT_DUE ? words.silence : next;
  } catch (error) {
    yield words.failed(error);
  }
}

export interface StreamOptions extends HeartbeatOptions {
  /** Where reasons of errors are explained. */
  docsUrl?: string | undefined;
}

async function firstWord({ frames, work }: Answer): Promise<void> {
  for await (const { chunk } of frames()) if (chunk.type === 'text-delta') return;
  await work;
}

/** Why no answer is given, in either protocol. */
export const ANSWER_ERRORS = [
  'TEXT_TOO_LONG',
  'CONVERSATION_NOT_FOUND',
  'USER_DAILY_CREATIONS',
  'ANONYMOUS_LIMIT',
  'ANSWER_RESTARTED',
  'FIELD_NOT_WRITABLE',
  'TOOL_NAME_TAKEN',
  'TOOL_CALL_NOT_FOUND',
  'TOOL_RESULT_CONFLICT',
] as const;

/** How an answer is given to whoever asked for it, in words of their protocol. */
interface AnswerWords {
  left: AbortSignal;
  /** The turn is stopped when the reader leaves and does not come back in time. */
  stops: boolean;
  text: (answer: Answer, options: StreamOptions) => AsyncGenerator<string>;
}

/** An answer as its reader wants it: streamed, or whole. Throws what the answer fails with before its first word. */
export async function replyWith(
  dependencies: RouteDependencies,
  answer: Answer,
  words: AnswerWords & { isStreamed: boolean; body: () => Promise<object> },
): Promise<Reply> {
  answer.subscribe(words.left);
  if (words.isStreamed) return streamAnswer(dependencies, answer, words);
  const headers = { 'x-turn-id': answer.recap.turnId };
  return { kind: 'json', headers, body: await words.body() };
}

/**
 * A streamed answer. It begins with the first word, or after a heartbeat's time: as long as nothing is sent, an error has
 * a status of its own, and only by it the SDKs try again. Throws what the answer fails with before its first word.
 */
export async function streamAnswer(
  dependencies: RouteDependencies,
  answer: Answer,
  stream: AnswerWords,
): Promise<Reply> {
  const { clock, heartbeatMs, docsUrl } = dependencies;
  const { conversationId, turnId } = answer.recap;
  const target = { conversationId, seq: seqOfId(turnId, 't') ?? 0, left: stream.left };
  const watch = stream.stops ? watchReader(dependencies, target) : unwatched;
  await settlesWithin(clock, heartbeatMs, firstWord(answer));
  const watched: Answer = { ...answer, frames: (left) => watch.read(answer.frames(left)) };
  return {
    kind: 'stream',
    headers: { ...EVENT_HEADERS, 'x-turn-id': turnId },
    text: ({ left, takeOn }) => {
      takeOn(watch.settled);
      return stream.text(watched, { clock, heartbeatMs, docsUrl, left });
    },
    work: answer.work,
  };
}
