import { badField, AppError } from '#shared/lib/errors.ts';
import type { RouteDependencies } from '#functions/chat/route.ts';
import type { OwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import { readOwnTurn } from '#functions/chat/turns/stream/read-turn.ts';
import { streamTurn } from '#functions/chat/turns/stream/stream-turn.ts';
import { toTurnError } from '#functions/chat/turns/turn-errors.ts';
import { callId, findCalls } from '#shared/conversation/context/tool-calls.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { isStreamAtEnd, type Turn } from '#shared/conversation/documents/turn.ts';
import { singleLineJson } from '#shared/lib/json-text.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { cursorPlace } from '#shared/conversation/frame-ids.ts';
import { toOutputParts } from '#shared/wire/resources/message-parts.ts';
import { framesOfStep, readStep, type Answer, type AnswerStep } from '../translation/answer.ts';

/*
 * Ids of responses and of their items name where they stand: conversation, turn, and how many calls of the turn were
 * answered before. So they are found without an index, for ever.
 */

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const RESPONSE = new RegExp(`^resp_(${UUID})_t_([1-9]\\d{0,9})(?:_c([1-9]\\d{0,5}))?$`, 'i');
const CALL = new RegExp(`^call_(${UUID})_(t_[1-9]\\d{0,9}_c\\d{1,6})$`, 'i');

/** A response: one answer of the model, or what it says after calls were answered. */
export interface ResponsePlace {
  conversationId: string;
  seq: number;
  /** Calls of the turn that were answered before it; 0: it is the beginning of the answer. */
  answeredCalls: number;
}

/** The id of a response without its prefix. */
export const placeText = ({ conversationId, seq, answeredCalls }: ResponsePlace): string =>
  `${conversationId}_t_${seq}${answeredCalls > 0 ? `_c${answeredCalls}` : ''}`;

/** A call as the wire names it (`t_1_c0`), with its conversation. */
export const storedCallId = (conversationId: string, id: string) => `call_${conversationId}_${id}`;

/** Conversation and call of a call id; undefined for an id of another server. */
export function findStoredCall(id: string): { conversationId: string; callId: string } | undefined {
  const [, conversationId, call] = CALL.exec(id) ?? [];
  return conversationId === undefined || call === undefined
    ? undefined
    : { conversationId, callId: call };
}

const responseNotFound = (field: string) =>
  new AppError({
    reason: 'RESPONSE_NOT_FOUND',
    publicMessage:
      'There is no response under this id. Take the `id` of a response of this server.',
    metadata: { field },
  });

/** The place that an id in `field` names. Throws RESPONSE_NOT_FOUND for any other text. */
export function toResponsePlace(id: string, field: string): ResponsePlace {
  const [, conversationId, seq, answered = '0'] = RESPONSE.exec(id) ?? [];
  if (conversationId === undefined) throw responseNotFound(field);
  return { conversationId, seq: Number(seq), answeredCalls: Number(answered) };
}

export interface StoredResponse {
  caller: Caller;
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
  return { caller, place, own, turn: turn.value };
}

/** Whether a response has ended, or stands until the app has done something. */
export const hasEnded = ({ place, turn }: StoredResponse): boolean =>
  isStreamAtEnd(turn.state) || readStep(turn, place.answeredCalls).isPassed;

/** What a stored response says. Throws what its turn failed with. */
function storedStep({ place, turn }: StoredResponse): AnswerStep {
  const step = readStep(turn, place.answeredCalls);
  const error = step.isPassed ? undefined : toTurnError(turn);
  if (error) throw error;
  return step;
}

/**
 * A stored response as an answer. `cursor`: the client has its frames up to this one, so those behind it are read one by
 * one. Throws BAD_FIELD for a cursor in an attempt at the answer that another one has taken the place of; reading throws
 * STREAM_EXPIRED where the frames are gone.
 */
export function storedAnswer(
  dependencies: RouteDependencies,
  stored: StoredResponse,
  cursor: number | undefined,
): Answer {
  const { caller, own, turn, place } = stored;
  const conversation = own.conversation.value;
  const { conversationId, seq, answeredCalls } = place;
  if (cursor !== undefined && cursor > 0 && cursorPlace(cursor, turn.attempt) === 'before')
    throw badField(
      'starting_after',
      'The answer was begun anew after the events that you have. Ask again without `starting_after`, and drop what you have.',
    );
  const answered = Array.from({ length: answeredCalls }, (_, index) => callId(seq, index));
  return {
    recap: { conversationId, turnId: turnId(seq), generation: conversation.generation },
    created: Math.floor(turn.createTime.getTime() / 1_000),
    model: turn.model ?? conversation.model ?? dependencies.config.MODEL,
    async *frames(left) {
      // From the beginning: events are numbered by frames, and the words before a restart have to be known.
      const from = cursor === undefined ? undefined : 0;
      const reader = { caller, turn, cursor: from, locale: undefined };
      const read = await streamTurn(dependencies, own, reader);
      if (read) yield* framesOfStep(read(left ? { left } : {}), answered);
    },
    subscribe: () => undefined,
    step: async () => {
      const id = `resp_${placeText(place)}`;
      const now = hasEnded(stored)
        ? stored
        : await readStoredResponse(dependencies, { caller, id });
      return storedStep(now);
    },
    work: Promise.resolve(),
  };
}

/** What the user said, in the words of the protocol. */
const messageContent = ({ seq, user }: Turn): object[] =>
  toOutputParts(seq, [user]).flatMap((part): object[] => {
    if (part.type === 'text') return [{ type: 'input_text', text: part.text }];
    if (part.type !== 'file') return [];
    const { uploadId, data, url, mediaType = '' } = part;
    if (uploadId !== undefined) return [{ type: 'input_file', file_id: uploadId }];
    const address = data === undefined ? url : `data:${mediaType};base64,${data}`;
    return mediaType.startsWith('image/')
      ? [{ type: 'input_image', image_url: address, detail: 'auto' }]
      : [{ type: 'input_file', file_url: address }];
  });

interface InputItem {
  type: string;
  id: string;
  [field: string]: unknown;
}

/** What a response answers: the user's message, or what the app gave to calls. The history is the conversation's. */
export function toInputItems({ place, turn }: StoredResponse): InputItem[] {
  const { conversationId, answeredCalls } = place;
  const status = 'completed';
  if (answeredCalls === 0) {
    const message = { type: 'message', id: `msg_${placeText(place)}_in`, role: 'user', status };
    return [{ ...message, content: messageContent(turn) }];
  }
  return findCalls(turn.contents).flatMap(({ index, response }) => {
    const isGiven = index < answeredCalls && turn.rounds?.app.includes(index) === true;
    if (!isGiven || response === undefined) return [];
    const id = storedCallId(conversationId, callId(turn.seq, index));
    const output = singleLineJson(response);
    return [{ type: 'function_call_output', id: `fco_${id}`, call_id: id, output, status }];
  });
}
