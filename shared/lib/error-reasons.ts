/** gRPC status names that Recap answers with; the HTTP code of each stands in `wire/errors/error-body.ts`. */
export const errorStatuses = [
  'INVALID_ARGUMENT',
  'FAILED_PRECONDITION',
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'NOT_FOUND',
  'ABORTED',
  'ALREADY_EXISTS',
  'RESOURCE_EXHAUSTED',
  'CANCELLED',
  'UNAVAILABLE',
  'DEADLINE_EXCEEDED',
  'INTERNAL',
] as const;
export type ErrorStatus = (typeof errorStatuses)[number];

/**
 * Where an error can come from: every route, every route with a sign-in, one that takes a body, one that
 * changes something, one that changes a conversation, one with ids in its path, one with pages, one whose answer a model gives, or one with
 * the path parameter of that name.
 */
type ErrorScope =
  | 'every'
  | 'user'
  | 'body'
  | 'write'
  | 'change'
  | 'path'
  | 'paged'
  | 'answer'
  | `{${string}}`;

/**
 * Whether the same request may be sent again: `yes`, after `Retry-After` where it is given; `later`, when what is in
 * its way has passed; `no`, because it would meet the same error.
 */
export const retryAdvices = ['yes', 'later', 'no'] as const;
type RetryAdvice = (typeof retryAdvices)[number];

const passingStatuses: ReadonlySet<string> = new Set<ErrorStatus>([
  'UNAVAILABLE',
  'DEADLINE_EXCEEDED',
  'RESOURCE_EXHAUSTED',
]);

/** What the table advises for a reason with one of its statuses; for one that is not in it, what its status does. */
export const retryAdvice = (
  row: Pick<ErrorReasonRow, 'retry'> | undefined,
  status: ErrorStatus,
): RetryAdvice => row?.retry ?? (passingStatuses.has(status) ? 'yes' : 'no');

export interface ErrorReasonRow {
  status: ErrorStatus;
  /** The status that the same reason has in the other of two cases: trying again helps, or is of no use. */
  otherStatus?: ErrorStatus;
  /** The HTTP code where it is not the usual one of the status: 413 is an INVALID_ARGUMENT. */
  httpStatus?: number;
  /** Beside the routes whose declaration names it. */
  on?: ErrorScope;
  /** When it comes, and what helps. */
  meaning: string;
  /** Where it does not follow from the status: see `retryAdvice`. */
  retry?: RetryAdvice;
}

/**
 * Every reason that an answer of the API may carry. The OpenAPI document, the reference and the tests of routes read
 * the table.
 */
export const errorReasons = {
  /* Why a request is refused whatever it asks for: how it is written, who sends it, and what the service lacks. */

  BAD_FIELD: {
    status: 'INVALID_ARGUMENT',
    on: 'every',
    meaning:
      'A field or parameter is missing, unknown or out of range; the message names it. Correct what the message names; `metadata.field` has its path.',
  },
  BAD_JSON: {
    status: 'INVALID_ARGUMENT',
    on: 'body',
    meaning:
      'The body is no JSON in UTF-8, is nested too deep, or holds too many values. Check quotes and commas, and send `Content-Type: application/json`.',
  },
  BODY_TOO_LARGE: {
    status: 'INVALID_ARGUMENT',
    httpStatus: 413,
    on: 'body',
    meaning:
      'The body is larger than the limit. Send less at once; files go through `POST /v1/uploads`.',
  },
  ENCODING_UNSUPPORTED: {
    status: 'INVALID_ARGUMENT',
    httpStatus: 415,
    on: 'body',
    meaning: 'The body is compressed; send it as it is.',
  },
  BODY_TOO_SLOW: {
    status: 'DEADLINE_EXCEEDED',
    httpStatus: 408,
    on: 'body',
    meaning: 'The body took too long to arrive; send the request again.',
  },
  BODY_INCOMPLETE: {
    status: 'CANCELLED',
    on: 'body',
    meaning: 'The body broke off; send the request again.',
    retry: 'yes',
  },
  PAGE_TOKEN_INVALID: {
    status: 'INVALID_ARGUMENT',
    on: 'paged',
    meaning: 'The page token is not of this list; begin without one.',
  },
  USER_CALLS: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'user',
    meaning:
      'As many calls run, or were made in the last minute, as may; wait as `Retry-After` says.',
  },
  ID_TOKEN_MISSING: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning:
      'There is no `Authorization: Bearer` header. Sign in with Firebase Auth and send `Authorization: Bearer <ID token>`.',
  },
  ID_TOKEN_EXPIRED: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning:
      'The ID token has expired; get a fresh one (`getIdToken(true)` of Firebase’s SDKs) and send the request again.',
  },
  ID_TOKEN_INVALID: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning:
      'The ID token is not valid for this service. Send an ID token, no custom token and no API key, of the Firebase project of this deployment.',
  },
  ID_TOKEN_REVOKED: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'The sign-in has been revoked, or the account is gone; sign in again.',
  },
  USER_DISABLED: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning: 'The account is disabled; whoever runs the service can enable it in Firebase Auth.',
  },
  ON_BEHALF_OF_DENIED: {
    status: 'PERMISSION_DENIED',
    on: 'user',
    meaning:
      'Somebody who may not asked to act for a user: `X-Recap-On-Behalf-Of` came with the token of a user, or `ADMIN_SERVICE_ACCOUNTS` does not list the service account. Users leave the header out; servers send an ID token of an account that is listed.',
  },
  READ_TOKEN_INVALID: {
    status: 'UNAUTHENTICATED',
    meaning:
      'The token of the webhook is missing, expired, forged or of another conversation. Send the `token` of the newest call of the webhook in `X-Recap-Read-Token`, for its conversation.',
  },
  APP_CHECK_MISSING: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning:
      'The deployment asks for an App Check token in `X-Firebase-AppCheck`. Set App Check up in the app; Firebase’s SDKs give the token.',
  },
  APP_CHECK_INVALID: {
    status: 'UNAUTHENTICATED',
    on: 'user',
    meaning:
      'The App Check token is not valid for this service. Get a new one; check that the app is registered with App Check in the project of this deployment.',
  },
  APP_CHECK_REPLAYED: {
    status: 'UNAUTHENTICATED',
    meaning:
      'The App Check token has been used; this request needs a limited-use token of its own.',
  },
  ROUTE_NOT_FOUND: {
    status: 'NOT_FOUND',
    meaning:
      'There is no such address. The message names the nearest one; `GET /v1/openapi.json` lists all.',
  },
  METHOD_NOT_ALLOWED: {
    status: 'INVALID_ARGUMENT',
    httpStatus: 405,
    meaning: 'The address takes other methods only; `Allow` lists them. Use one of them.',
  },
  BAD_REQUEST_LINE: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The address or the Host header cannot be read. Check the address: spaces and special characters are percent-encoded.',
  },
  INTERNAL: {
    status: 'INTERNAL',
    on: 'every',
    meaning:
      'Something went wrong here; it is logged. Try again later; quote the header `x-request-id` when you ask for help.',
    retry: 'later',
  },
  STORE_REFUSED: {
    status: 'INTERNAL',
    on: 'user',
    meaning:
      'The service is not set up correctly. Whoever runs the service checks the rights of its account on Firestore (docs/operations.md).',
  },
  STORE_UNAVAILABLE: {
    status: 'UNAVAILABLE',
    on: 'user',
    meaning: 'The service is busy; try again in a moment.',
  },
  STORED_BY_NEWER_VERSION: {
    status: 'UNAVAILABLE',
    on: 'user',
    meaning:
      'The conversation was stored by a later version of the service than the one that answers; try again in half a minute.',
  },
  KEYS_UNAVAILABLE: {
    status: 'UNAVAILABLE',
    on: 'user',
    meaning: 'Sign-in cannot be checked right now; try again in a moment.',
  },
  ACCOUNT_LOOKUP_FAILED: {
    status: 'UNAVAILABLE',
    on: 'user',
    meaning: 'Sign-in cannot be checked right now; try again in a moment.',
  },
  EVENT_BUS_UNAVAILABLE: {
    status: 'UNAVAILABLE',
    on: 'write',
    meaning: 'The service is busy; try again in a moment.',
  },

  /* Why something that a conversation or a user has cannot be read or changed. */

  CONVERSATION_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{conversationId}',
    meaning:
      'The caller has no conversation under this id. Check the id and the user; a message to an id that nobody has used creates the conversation.',
  },
  CONVERSATION_UNREADABLE: {
    status: 'FAILED_PRECONDITION',
    on: '{conversationId}',
    meaning:
      'What is stored of the conversation cannot be read any more. It can be deleted; whoever runs the service can mend it.',
  },
  NOT_FOUND: {
    status: 'NOT_FOUND',
    on: 'path',
    meaning:
      'An id of the path cannot exist. Check the id that the message names: its form is in the reference of the route.',
  },
  COMPLETION_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{completionId}',
    meaning: 'No completion has this id. It is `chatcmpl-{conversationId}-{turnId}`.',
  },
  MODEL_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{model}',
    meaning:
      'This deployment answers with no model of this name; the message names those that it has.',
  },
  RESPONSE_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{responseId}',
    meaning:
      'No response has this id. Responses are found by their ids for as long as their conversation is.',
  },
  TURN_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{turnId}',
    meaning:
      'The conversation has no such turn. Turns are named `t_1`, `t_2`, …; the list of messages has them.',
  },
  MESSAGE_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{messageId}',
    meaning:
      'The conversation has no such message, or it was erased. Take the id from the list of messages.',
  },
  PIN_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{pinId}',
    meaning: 'The conversation has no such pin. `GET …/pins` lists those there are.',
  },
  GENERATION_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{generation}',
    meaning: 'The conversation has no such generation. `GET …/compactions` lists those there are.',
  },
  COMPACTION_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{jobId}',
    meaning:
      'The conversation has no such compaction, or it ended long ago. `GET …/compactions` lists those there are.',
  },
  DEVICE_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{deviceId}',
    meaning: 'The caller has no such device. `GET /v1/users/me/devices` lists those there are.',
  },
  MEMORY_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{memoryId}',
    meaning: 'The caller has no such note. `GET /v1/users/me/memories` lists those there are.',
  },
  MEMORY_FULL: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The caller has as many notes as there may be; delete one, or put two into one.',
  },
  UPLOAD_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{uploadId}',
    meaning:
      'The caller has no such upload, or its file has not been sent to its address, or has expired. Send the bytes to the address that `POST /v1/uploads` gave, or begin a new upload.',
  },
  UPLOADS_OFF: {
    status: 'FAILED_PRECONDITION',
    meaning:
      'The deployment takes no uploads: it sets no UPLOADS_BUCKET. Send the file inside the message, or have the deployment set the variable.',
  },
  UPLOAD_TYPE_MISMATCH: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The file is not what its media type or size says. Give the media type and size that the file has.',
  },
  FILES_TOO_LARGE: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The uploads of the message are too large together. Send fewer or smaller files in one message.',
  },
  USER_DAILY_CREATIONS: {
    status: 'RESOURCE_EXHAUSTED',
    meaning:
      'The user has made as many conversations, forks, devices and notes as they may in a day; come back at `resetTime`.',
    retry: 'later',
  },
  USER_DAILY_UPLOADS: {
    status: 'RESOURCE_EXHAUSTED',
    meaning:
      'The user has begun as many uploads as they may in a day. Come back at `metadata.resetTime`.',
    retry: 'later',
  },
  FILES_UNAVAILABLE: {
    status: 'UNAVAILABLE',
    meaning: 'Files cannot be read or stored right now; try again in a moment.',
  },
  GUARD_LOST: {
    status: 'ABORTED',
    on: 'write',
    meaning: 'Another request changed the same at the same time; try again.',
    retry: 'yes',
  },
  CONVERSATION_BUSY: {
    status: 'ABORTED',
    on: 'change',
    meaning: 'The conversation keeps changing; try again in a moment.',
    retry: 'yes',
  },
  ETAG_MISMATCH: {
    status: 'FAILED_PRECONDITION',
    httpStatus: 412,
    meaning: 'The resource has changed since it was read (`If-Match`); read it again.',
  },
  GENERATION_MISMATCH: {
    status: 'FAILED_PRECONDITION',
    httpStatus: 412,
    meaning: 'The conversation is at another generation than `If-Match` names; read it again.',
  },
  NOT_AN_ANSWER: {
    status: 'FAILED_PRECONDITION',
    meaning: 'Feedback is given on answers, not on user messages. Name an answer, such as `m_1`.',
  },
  FIELD_NOT_WRITABLE: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The field is set by the deployment. Leave the field out, or have the deployment list it in `CLIENT_WRITABLE`. A server of the app may write it; `serverInstruction` nobody else may.',
  },
  TOOL_CALL_NOT_FOUND: {
    status: 'NOT_FOUND',
    meaning: 'The turn has no such call that the app answers; the message lists those that wait.',
  },
  TOOL_RESULT_CONFLICT: {
    status: 'ALREADY_EXISTS',
    meaning:
      'The call has another answer already, or its turn has ended. Read the turn: it says how the call ended.',
  },
  TOOL_NAME_TAKEN: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'A tool of the app has the name of one that the server runs. Give the tool another name.',
  },
  THRESHOLD_TOO_HIGH: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The threshold is above the one of the deployment. Choose a lower one, or leave it out.',
  },
  THRESHOLD_TOO_LOW: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The threshold comes to fewer tokens than the least there is. Choose a higher one, or leave it out.',
  },
  ROUTING_NOT_SET: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The model is to be `auto`, and the deployment names no models to choose from. Name a model, or have the deployment set the variables of routing.',
  },
  BAD_SETTING: {
    status: 'INVALID_ARGUMENT',
    meaning: 'A setting is out of its range. Keep to the range that the message names.',
  },
  FORK_TOO_LARGE: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The copy would have too many turns; fork at an earlier message.',
  },
  CALLER_IS_GUEST: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The caller is anonymous, and only an account takes a guest over. Sign in first.',
  },
  GUEST_TOKEN_INVALID: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'The guest token is no valid ID token of another user who is anonymous: it has expired, is of another project, or of somebody who has signed in. Take it with `getIdToken()` before the sign-in, and send it at once.',
  },
  GUEST_CLAIMED: {
    status: 'ALREADY_EXISTS',
    meaning: 'Another account has taken the guest over. What the guest had is there.',
  },
  FORK_TAKEN_OVER: {
    status: 'ABORTED',
    meaning: 'Another request is making this fork; send the same again.',
    retry: 'yes',
  },
  WRITE_REFUSED: {
    status: 'INVALID_ARGUMENT',
    on: 'write',
    meaning:
      'What is to be stored is too large or holds what cannot be stored. Send less, and no values that JSON cannot hold.',
  },

  /* Why what the model sees of a conversation cannot be changed: its compactions, generations and pins. */

  COMPACTION_RUNNING: {
    status: 'ABORTED',
    meaning:
      'A compaction of the conversation is queued or running. Wait for it; `GET …/compactions` says how it stands.',
    retry: 'later',
  },
  COMPACTION_LIMIT: {
    status: 'RESOURCE_EXHAUSTED',
    meaning:
      'The conversation was compacted as often as it may be for now. Wait as `Retry-After` says.',
    retry: 'later',
  },
  GENERATION_ERASED: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The generation told of a message that was erased. Restore another generation.',
  },
  GENERATION_OUTDATED: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The generation tells of messages that were edited since. Restore another generation.',
  },
  SNAPSHOT_UNREADABLE: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The stored summary of the generation is damaged. Restore another generation.',
  },
  PIN_BUDGET: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The pins of the conversation would be too many or too long. Delete or shorten pins.',
  },

  /* Why a message gets no answer, or none now. */

  STREAM_EXPIRED: {
    status: 'NOT_FOUND',
    httpStatus: 410,
    meaning: 'The stream is too old to be continued; read the messages.',
  },
  BAD_PART: {
    status: 'INVALID_ARGUMENT',
    meaning:
      'A part of the message is of no form that is known here; the message names it. Parts are `{"type":"text","text":"…"}`, a file, or an upload; see the reference of messages.',
  },
  TEXT_TOO_LONG: {
    status: 'INVALID_ARGUMENT',
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
    meaning: 'Only messages of the user can be edited. Name a message of the role `user`.',
  },
  NOT_THE_LAST_ANSWER: {
    status: 'FAILED_PRECONDITION',
    meaning:
      'Only the last answer can be regenerated. Name the last one; to change an earlier turn, edit its message.',
  },
  MESSAGE_REPLACED: {
    status: 'FAILED_PRECONDITION',
    meaning:
      'Another message has taken the place of this one. Read the list of messages and name the newer one.',
  },
  EDIT_TOO_FAR_BACK: {
    status: 'FAILED_PRECONDITION',
    meaning: 'An edit would replace too many turns; fork instead.',
  },
  TURN_FINISHED: {
    status: 'FAILED_PRECONDITION',
    meaning: 'The turn has ended; there is nothing to cancel. Read the turn: it has the answer.',
  },
  ANSWER_RESTARTED: {
    status: 'UNAVAILABLE',
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

export type ErrorReasonName = keyof typeof errorReasons;

/** The rows in the order of the table. */
export const errorReasonRows: readonly (ErrorReasonRow & { reason: string })[] = Object.entries(
  errorReasons,
).map(([reason, row]) => ({ reason, ...row }));
