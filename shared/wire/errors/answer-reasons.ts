import type { ErrorReasonRow } from './reason-row.ts';

/** Why a message gets no answer, or none now. */
export const answerReasons = {
  STREAM_EXPIRED: {
    status: 'NOT_FOUND',
    httpStatus: 410,
    on: 'declared',
    meaning: 'The stream is too old to be continued; read the messages.',
  },
  BAD_PART: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning:
      'A part of the message is of no form that is known here; the message names it. Parts are `{"type":"text","text":"…"}`, a file, or an upload; see the reference of messages.',
  },
  TEXT_TOO_LONG: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning:
      'A text or a message is longer than its limit; both are named. Shorten it, or send it as a file.',
  },
  CONTEXT_WINDOW_WILL_OVERFLOW: {
    status: 'FAILED_PRECONDITION',
    otherStatus: 'UNAVAILABLE',
    on: 'answer',
    meaning:
      'The message does not fit what is left of the context window (503: a compaction makes room; send it again as `Retry-After` says).',
  },
  TURN_DENIED: {
    status: 'FAILED_PRECONDITION',
    on: 'answer',
    meaning:
      'The service does not take this message, and says why; nothing was stored. Show the message to the user.',
  },
  HOOK_FAILED: {
    status: 'UNAVAILABLE',
    on: 'answer',
    meaning: 'A step that the service requires before each answer failed; send the message again.',
  },
  TURN_IN_PROGRESS: {
    status: 'ABORTED',
    on: 'answer',
    meaning: 'Another message is being answered; wait, queue or interrupt.',
    retry: 'later',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 'ALREADY_EXISTS',
    on: 'answer',
    meaning: 'The id was used for something else; draw a new one.',
  },
  TURN_ABANDONED: {
    status: 'UNAVAILABLE',
    on: 'answer',
    meaning: 'The answer was interrupted and not resumed in time; send the same message again.',
  },
  TURN_TAKEN_OVER: {
    status: 'ABORTED',
    on: 'answer',
    meaning: 'Another server continues the answer; send the message again.',
    retry: 'yes',
  },
  ABORTED: {
    status: 'CANCELLED',
    on: 'answer',
    meaning:
      'The answer was stopped. Nothing to do: somebody stopped it. What was said until then is kept.',
  },
  MODEL_TIMEOUT: {
    status: 'DEADLINE_EXCEEDED',
    on: 'answer',
    meaning: 'The model took too long; send the message again.',
  },
  MODEL_OVERLOADED: {
    status: 'UNAVAILABLE',
    on: 'answer',
    meaning: 'The model is not available; try again in a moment.',
  },
  MODEL_EMPTY_ANSWER: {
    status: 'UNAVAILABLE',
    on: 'answer',
    meaning: 'The model said nothing; send the message again.',
  },
  ANSWER_TOO_LARGE: {
    status: 'FAILED_PRECONDITION',
    on: 'answer',
    meaning:
      'The answer, such as a picture, is larger than can be stored; ask for less in a new message.',
  },
  RESPONSE_SCHEMA_UNMET: {
    status: 'FAILED_PRECONDITION',
    on: 'answer',
    meaning:
      'The answer does not fit `responseSchema`, also when it was asked for once more; the message says what did not.',
  },
  APPROVAL_NEEDED: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning:
      'A call of a tool waits until the user allows it, which this protocol cannot ask; give `toolResults`, then send the same again.',
  },
  MODEL_QUOTA: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'answer',
    meaning: 'The model is at its limit of requests; try again later.',
  },
  USER_RPM: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'answer',
    meaning: 'As many answers began in the last minute as may; wait as `Retry-After` says.',
  },
  USER_STREAMS: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'answer',
    meaning:
      'As many answers or streams are open as may at once; wait for one to end, or close it.',
  },
  USER_DAILY_MESSAGES: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'answer',
    meaning: 'The messages of the day are used up. Come back at `metadata.resetTime`.',
    retry: 'later',
  },
  USER_DAILY_TOKENS: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'answer',
    meaning:
      'What is left of the tokens of the day is less than the message needs. Begin a new conversation, which needs fewer, or come back at `metadata.resetTime`.',
    retry: 'later',
  },
  USER_DAILY_USD: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'answer',
    meaning: 'What one user may cost in a day is used up. Come back at `metadata.resetTime`.',
    retry: 'later',
  },
  ANONYMOUS_LIMIT: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'answer',
    meaning: 'What an anonymous user may take in a day is used up; sign in to go on with more.',
    retry: 'later',
  },
  GLOBAL_BUDGET: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'answer',
    meaning:
      'The service has reached its budget of the day. Come back at `metadata.resetTime`; whoever runs the service sets `GLOBAL_DAILY_USD`.',
    retry: 'later',
  },
  MODEL_CONTEXT_OVERFLOW: {
    status: 'FAILED_PRECONDITION',
    on: 'answer',
    meaning:
      'The conversation is too long for the model. Compact it (`POST …:compact`), or begin a new one.',
  },
  MODEL_UNKNOWN: {
    status: 'FAILED_PRECONDITION',
    on: 'answer',
    meaning:
      'There is no model of this name. Choose one that the message or docs/reference/constants.md names; a deployment makes another one known by `MODEL_WINDOWS`.',
  },
  MODEL_REFUSED_REQUEST: {
    status: 'INTERNAL',
    on: 'answer',
    meaning:
      'The model did not accept the request. Whoever runs the service finds the cause in its logs.',
  },
  OVERHEAD_TOO_LARGE: {
    status: 'INVALID_ARGUMENT',
    on: 'answer',
    meaning: 'System instruction and tools leave no room in the context window. Shorten them.',
  },
  NOT_A_USER_MESSAGE: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'Only messages of the user can be edited. Name a message of the role `user`.',
  },
  NOT_THE_LAST_ANSWER: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning:
      'Only the last answer can be regenerated. Name the last one; to change an earlier turn, edit its message.',
  },
  MESSAGE_REPLACED: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning:
      'Another message has taken the place of this one. Read the list of messages and name the newer one.',
  },
  EDIT_TOO_FAR_BACK: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'An edit would replace too many turns; fork instead.',
  },
  TURN_FINISHED: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The turn has ended; there is nothing to cancel. Read the turn: it has the answer.',
  },
  ANSWER_RESTARTED: {
    status: 'UNAVAILABLE',
    on: 'declared',
    meaning: 'The answer began anew while it was streamed; send the same request again to get it.',
  },
  TURN_STILL_QUEUED: {
    status: 'UNAVAILABLE',
    on: 'answer',
    meaning:
      'The message is queued, and those before it take long; send it again to go on waiting.',
  },
  SHUTTING_DOWN: {
    status: 'UNAVAILABLE',
    on: 'answer',
    meaning: 'This server is ending; send the message again, another one takes it.',
  },
} as const satisfies Record<string, ErrorReasonRow>;
