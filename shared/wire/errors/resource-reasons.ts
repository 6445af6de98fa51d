import type { ErrorReasonRow } from './reason-row.ts';

/** Why something that a conversation or a user has cannot be read or changed. */
export const resourceReasons = {
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
  BLOB_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: 'declared',
    meaning:
      'The model asked for a stored output that the conversation does not have. Nothing to do: the model is told.',
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
    on: 'declared',
    meaning: 'The caller has as many notes as there may be; delete one, or put two into one.',
  },
  MEMORY_NOT_SAID: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning:
      'Told to the model alone: a note quotes a message of the user, and goes where a message of the user or an approval says so.',
  },
  UPLOAD_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{uploadId}',
    meaning:
      'The caller has no such upload, or its file has not been sent to its address, or has expired. Send the bytes to the address that `POST /v1/uploads` gave, or begin a new upload.',
  },
  UPLOADS_OFF: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning:
      'The deployment takes no uploads: it sets no UPLOADS_BUCKET. Send the file inside the message, or have the deployment set the variable.',
  },
  UPLOAD_TYPE_MISMATCH: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning:
      'The file is not what its media type or size says. Give the media type and size that the file has.',
  },
  FILES_TOO_LARGE: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning:
      'The uploads of the message are too large together. Send fewer or smaller files in one message.',
  },
  USER_DAILY_CREATIONS: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'declared',
    meaning:
      'The user has made as many conversations, forks, devices and notes as they may in a day; come back at `resetTime`.',
    retry: 'later',
  },
  USER_DAILY_UPLOADS: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'declared',
    meaning:
      'The user has begun as many uploads as they may in a day. Come back at `metadata.resetTime`.',
    retry: 'later',
  },
  FILES_UNAVAILABLE: {
    status: 'UNAVAILABLE',
    on: 'declared',
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
    on: 'declared',
    meaning: 'The conversation keeps changing; try again in a moment.',
    retry: 'yes',
  },
  ETAG_MISMATCH: {
    status: 'FAILED_PRECONDITION',
    httpStatus: 412,
    on: 'declared',
    meaning: 'The resource has changed since it was read (`If-Match`); read it again.',
  },
  GENERATION_MISMATCH: {
    status: 'FAILED_PRECONDITION',
    httpStatus: 412,
    on: 'declared',
    meaning: 'The conversation is at another generation than `If-Match` names; read it again.',
  },
  NOT_AN_ANSWER: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'Feedback is given on answers, not on user messages. Name an answer, such as `m_1`.',
  },
  FIELD_NOT_WRITABLE: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning:
      'The field is set by the deployment. Leave the field out, or have the deployment list it in `CLIENT_WRITABLE`.',
  },
  TOOL_CALL_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: 'declared',
    meaning: 'The turn has no such call that the app answers; the message lists those that wait.',
  },
  TOOL_RESULT_CONFLICT: {
    status: 'ALREADY_EXISTS',
    on: 'declared',
    meaning:
      'The call has another answer already, or its turn has ended. Read the turn: it says how the call ended.',
  },
  TOOL_NAME_TAKEN: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning:
      'A tool of the app has the name of one that the server runs. Give the tool another name.',
  },
  THRESHOLD_TOO_HIGH: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning:
      'The threshold is above the one of the deployment. Choose a lower one, or leave it out.',
  },
  THRESHOLD_TOO_LOW: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning:
      'The threshold comes to fewer tokens than the least there is. Choose a higher one, or leave it out.',
  },
  ROUTING_NOT_SET: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning:
      'The model is to be `auto`, and the deployment names no models to choose from. Name a model, or have the deployment set the variables of routing.',
  },
  BAD_SETTING: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'A setting is out of its range. Keep to the range that the message names.',
  },
  FORK_TOO_LARGE: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The copy would have too many turns; fork at an earlier message.',
  },
  FORK_TAKEN_OVER: {
    status: 'ABORTED',
    on: 'declared',
    meaning: 'Another request is making this fork; send the same again.',
    retry: 'yes',
  },
  WRITE_REFUSED: {
    status: 'INVALID_ARGUMENT',
    on: 'write',
    meaning:
      'What is to be stored is too large or holds what cannot be stored. Send less, and no values that JSON cannot hold.',
  },
} as const satisfies Record<string, ErrorReasonRow>;
