/** Why a message with uploads may be refused, beside what refuses any message. */
export const UPLOAD_ERRORS = [
  'UPLOADS_OFF',
  'UPLOAD_NOT_FOUND',
  'UPLOAD_TYPE_MISMATCH',
  'FILES_TOO_LARGE',
  'FILES_UNAVAILABLE',
] as const;

/* What several routes say of the same header, for their declarations. */

export const LANGUAGE_HEADER = {
  'Accept-Language': 'The language of the sentences for people.',
};

export const IF_MATCH_HEADER = {
  'If-Match':
    'The ETag of the conversation as it was read, or `"g3"` for generation 3 in any state; 412 when it is another.',
};

/** Of a request that a model answers, as a stream or as one JSON. */
export const ANSWER_HEADERS = {
  Accept: '`text/event-stream` streams the answer; else one JSON comes at its end.',
  'Accept-Language': 'Where `locale` is left out: the language of the sentences for people.',
};

/** Of the reply to it. */
export const TURN_HEADER = { 'X-Turn-Id': 'The turn that answers.' };
