import { AppError } from '#shared/errors.ts';

/*
 * Ids of responses and of their items name where they stand: conversation, turn, and how many calls of the turn were
 * answered before. So they are found without an index, for ever.
 */

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const RESPONSE = new RegExp(`^resp_(${UUID})_t_([1-9]\\d{0,9})(?:_c([1-9]\\d{0,5}))?$`, 'i');
const CALL = new RegExp(`^call_(${UUID})_(t_[1-9]\\d{0,9}_c\\d{1,6})$`, 'i');
const COMPACTION = new RegExp(`^(${UUID})_t_([1-9]\\d{0,9})$`, 'i');

/** A response: one answer of the model, or what it says after calls were answered. */
export interface ResponsePlace {
  conversationId: string;
  seq: number;
  /** Calls of the turn that were answered before it; 0: it is the beginning of the answer. */
  answeredCalls: number;
}

const suffix = ({ answeredCalls }: ResponsePlace) =>
  answeredCalls > 0 ? `_c${answeredCalls}` : '';

const placeText = (place: ResponsePlace) =>
  `${place.conversationId}_t_${place.seq}${suffix(place)}`;

export const responseId = (place: ResponsePlace) => `resp_${placeText(place)}`;
export const messageItemId = (place: ResponsePlace) => `msg_${placeText(place)}`;
export const inputItemId = (place: ResponsePlace) => `msg_${placeText(place)}_in`;

/** A call as the wire names it (`t_1_c0`), with its conversation. */
export const storedCallId = (conversationId: string, callId: string) =>
  `call_${conversationId}_${callId}`;

/** What stands for a whole conversation in place of its items. */
export const compactionContent = ({ conversationId, seq }: Omit<ResponsePlace, 'answeredCalls'>) =>
  `${conversationId}_t_${seq}`;

/** The place of a response; undefined for an id that none of ours is. */
function findResponsePlace(id: string): ResponsePlace | undefined {
  const [, conversationId, seq, answered = '0'] = RESPONSE.exec(id) ?? [];
  if (conversationId === undefined) return undefined;
  return { conversationId, seq: Number(seq), answeredCalls: Number(answered) };
}

/** Conversation and call of a call id of a stored answer. */
export function findStoredCall(id: string): { conversationId: string; callId: string } | undefined {
  const [, conversationId, callId] = CALL.exec(id) ?? [];
  return conversationId === undefined || callId === undefined
    ? undefined
    : { conversationId, callId };
}

/** The place that a compaction item stands for. */
export function findCompactedPlace(content: string): ResponsePlace | undefined {
  const [, conversationId, seq] = COMPACTION.exec(content) ?? [];
  return conversationId === undefined
    ? undefined
    : { conversationId, seq: Number(seq), answeredCalls: 0 };
}

export const responseNotFound = (field: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'RESPONSE_NOT_FOUND',
    message: 'a response was asked for by an id that none has',
    publicMessage:
      'There is no stored response under this id. One with `store: false` in its answer was not stored; take the `id` of another, or send the items themselves as `input`.',
    metadata: { field },
  });

/** The place that an id in `field` names. Throws RESPONSE_NOT_FOUND for any other text. */
export function toResponsePlace(id: string, field: string): ResponsePlace {
  const place = findResponsePlace(id);
  if (!place) throw responseNotFound(field);
  return place;
}
