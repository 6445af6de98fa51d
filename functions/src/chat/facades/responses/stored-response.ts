import { contentText } from '#shared/conversation/documents/content.ts';
import { callId, findCalls, type ToolCall } from '#shared/conversation/context/tool-calls.ts';
import { waitingCalls } from '#shared/conversation/context/tool-results.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { urlCitations } from '#shared/grounding/url-citations.ts';
import { isResting, type Turn } from '#shared/conversation/documents/turn.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { OpenAiToolCall } from '#shared/wire/facades/openai.ts';
import type { ResponseResource } from '#shared/wire/facades/responses/response.ts';
import { cursorPlace } from '#shared/wire/frame-ids.ts';
import type { StreamFrame } from '#shared/wire/resources/streams.ts';
import type { OwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import { ignoreRejection } from '#functions/lib/promises.ts';
import { readOwnTurn } from '#functions/chat/turns/stream/read-turn.ts';
import { streamTurn } from '#functions/chat/turns/stream/stream-turn.ts';
import { toTurnError } from '#functions/chat/turns/stream/turn-failure.ts';
import { openAiErrorReply } from '../openai/error-reply.ts';
import { framesAfterCalls, usageAfterCall } from '../openai/rest-of-answer.ts';
import type { Completion, CompletionResult } from '../openai/completion.ts';
import { responseBody } from './response-text.ts';
import { badInput } from './bad-input.ts';
import { frameOfNumber, type Answering } from './response-events.ts';
import {
  messageItemId,
  responseId,
  responseNotFound,
  storedCallId,
  toResponsePlace,
  type ResponsePlace,
} from './response-id.ts';
import { begunResponse, storedEcho } from './response-resource.ts';

export interface StoredResponse {
  place: ResponsePlace;
  own: OwnConversation;
  turn: Turn;
}

/** The turn that a response id names, the caller's own. Throws RESPONSE_NOT_FOUND, CONVERSATION_NOT_FOUND, TURN_NOT_FOUND. */
export async function readStoredResponse(
  dependencies: Pick<RouteDependencies, 'store'>,
  { caller, id }: { caller: Caller; id: string },
): Promise<StoredResponse> {
  const place = toResponsePlace(id, 'response_id');
  const { conversationId, seq } = place;
  const read = { caller, conversationId, turnId: turnId(seq) };
  const { own, turn } = await readOwnTurn(dependencies, read);
  if (place.answeredCalls > findCalls(turn.value.contents).length)
    throw responseNotFound('response_id');
  return { place, own, turn: turn.value };
}

/** What one response of a turn said and called: what stands behind the calls that it answers, up to the next ones. */
function findStep(
  turn: Turn,
  answeredCalls: number,
): { result: CompletionResult; isPassed: boolean } {
  const { contents, finishReason, grounding } = turn;
  const calls = findCalls(contents);
  let before = 0;
  let rounds = 0;
  let said = '';
  let from = 0;
  const resultOf = (toolCalls: readonly OpenAiToolCall[], taken = turn.usage): CompletionResult => {
    const usage = usageAfterCall({ ...turn, usage: taken }, answeredCalls - 1);
    const text = said.slice(from);
    const citations = urlCitations(grounding, { text, from });
    return { text, toolCalls, finishReason, usage, citations };
  };
  for (const content of contents) {
    if (content.role !== 'model') continue;
    if (before < answeredCalls) from = said.length + contentText(content).length;
    said += contentText(content);
    const first = before;
    before += content.parts.filter(({ functionCall }) => functionCall !== undefined).length;
    const asked = calls
      .slice(first, before)
      .filter(({ index }) => index >= answeredCalls && turn.rounds?.app.includes(index) === true);
    if (before > first) rounds += 1;
    if (asked.length === 0) continue;
    const told = asked.map((call) => openAiCall(turn, call));
    const isPassed = asked.every(({ response }) => response !== undefined);
    return { result: resultOf(told, turn.rounds?.usages?.[rounds - 1]), isPassed };
  }
  return { result: resultOf([]), isPassed: false };
}

const openAiCall = ({ seq }: Turn, { index, name, args }: ToolCall): OpenAiToolCall => ({
  id: callId(seq, index),
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

/** Throws BAD_FIELD for a number of an attempt at the answer that another one has taken the place of. */
function refuseEarlierAttempt({ attempt }: Turn, after: number): void {
  const frame = frameOfNumber(after);
  if (frame === 0 || cursorPlace(frame, attempt) !== 'before') return;
  throw badInput(
    'starting_after',
    'The answer was begun anew after the events that you have. Ask again without `starting_after`, and drop what you have.',
  );
}

/** Calls of the server that wait for the user, and not for the app. */
function toldOf(turn: Turn): Answering['told'] {
  const approvals = waitingCalls(turn)
    .filter(({ index }) => turn.rounds?.app.includes(index) !== true)
    .map(({ index, name }) => ({ callId: callId(turn.seq, index), toolName: name }));
  return approvals.length === 0 ? {} : { approvals };
}

async function* noFrames(): AsyncGenerator<StreamFrame> {
  // It has ended, and is told at once.
}

/** The frames of a response that may still be running; `result` is read when they have ended. */
function runningCompletion(
  dependencies: RouteDependencies,
  stored: StoredResponse & { caller: Caller; cursor: number | undefined },
  known: Omit<Completion, 'frames' | 'result'>,
): Completion {
  const { own, turn, place, caller, cursor } = stored;
  const { promise, resolve, reject } = Promise.withResolvers<CompletionResult>();
  const answered = Array.from({ length: place.answeredCalls }, (_, index) =>
    callId(turn.seq, index),
  );
  async function* frames(left?: AbortSignal): AsyncGenerator<StreamFrame> {
    try {
      const reader = { caller, turn, cursor, locale: undefined };
      const { sendMessage } = dependencies;
      const read = await streamTurn(dependencies, own, { ...reader, sendMessage });
      if (read) yield* framesAfterCalls(read(left ? { left } : {}), answered);
      const id = responseId(place);
      const ended = await readStoredResponse(dependencies, { caller, id });
      const error = toTurnError(ended.turn);
      if (error) throw error;
      resolve(findStep(ended.turn, place.answeredCalls).result);
    } catch (error) {
      reject(error);
      throw error;
    }
  }
  return { ...known, frames, result: ignoreRejection(promise) };
}

/**
 * A stored response as its events tell it. `after`: the client has the events up to this number, so the frames are read
 * one by one. Throws STREAM_EXPIRED where they are gone.
 */
export function storedAnswering(
  dependencies: RouteDependencies,
  stored: StoredResponse & { caller: Caller },
  after: number | undefined,
): Answering {
  const { own, turn, place } = stored;
  if (after !== undefined) refuseEarlierAttempt(turn, after);
  const conversation = own.conversation.value;
  const { conversationId } = own;
  const recap = {
    conversationId,
    turnId: turnId(turn.seq),
    generation: conversation.generation,
  };
  const created = Math.floor(turn.createTime.getTime() / 1_000);
  const model = turn.model ?? conversation.model ?? dependencies.config.MODEL;
  const known = { id: responseId(place), created, model, recap, ignored: [] };
  const { result, isPassed } = findStep(turn, place.answeredCalls);
  const isTold = isPassed || (isResting(turn.state) && after === undefined);
  const completion: Completion = isTold
    ? { ...known, frames: noFrames, result: ignoreRejection(endedResult(turn, result, isPassed)) }
    : runningCompletion(
        dependencies,
        { ...stored, cursor: after === undefined ? undefined : 0 },
        known,
      );
  return {
    completion,
    response: begunResponse(storedEcho(conversation), {
      id: known.id,
      created_at: created,
      model,
      recap,
      ignored: [],
    }),
    messageId: messageItemId(place),
    nameCall: (id) => storedCallId(conversationId, id),
    told: toldOf(turn),
    after: [],
  };
}

async function endedResult(
  turn: Turn,
  result: CompletionResult,
  isPassed: boolean,
): Promise<CompletionResult> {
  const error = isPassed ? undefined : toTurnError(turn);
  if (error) throw error;
  return Promise.resolve(result);
}

/** A stored response as it stands now: queued and running ones without their output. */
export async function storedResponse(
  dependencies: RouteDependencies,
  stored: StoredResponse & { caller: Caller },
): Promise<ResponseResource> {
  const { turn, place } = stored;
  const answering = storedAnswering(dependencies, stored, undefined);
  const { response } = answering;
  if (findStep(turn, place.answeredCalls).isPassed || isResting(turn.state)) {
    const error = toTurnError(turn);
    if (error && turn.state === 'failed') {
      const { code, message, param, type } = openAiErrorReply(error, dependencies.docsUrl).body
        .error;
      return { ...response, status: 'failed', error: { code, message, param, type } };
    }
    const endTime = turn.finishTime ?? turn.createTime;
    return responseBody(answering, { clock: { now: () => endTime } });
  }
  return { ...response, status: turn.state === 'queued' ? 'queued' : 'in_progress' };
}
