import type { ErrorReasonRow } from './reason-row.ts';

/** Why something that a conversation or a user has cannot be read or changed. */
export const resourceReasons = {
  CONVERSATION_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{conversationId}',
    meaning: 'The caller has no conversation under this id.',
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
    meaning: 'An id of the path cannot exist.',
  },
  MODEL_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{model}',
    meaning:
      'This deployment answers with no model of this name; the message names those that it has.',
  },
  TURN_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{turnId}',
    meaning: 'The conversation has no such turn.',
  },
  MESSAGE_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{messageId}',
    meaning: 'The conversation has no such message, or it was erased.',
  },
  PIN_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{pinId}',
    meaning: 'The conversation has no such pin.',
  },
  BLOB_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: 'declared',
    meaning: 'The model asked for a stored output that the conversation does not have.',
  },
  GENERATION_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{generation}',
    meaning: 'The conversation has no such generation.',
  },
  COMPACTION_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{jobId}',
    meaning: 'The conversation has no such compaction, or it ended long ago.',
  },
  DEVICE_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{deviceId}',
    meaning: 'The caller has no such device.',
  },
  MEMORY_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{memoryId}',
    meaning: 'The caller has no such note.',
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
      'Told to the model alone: a note must repeat what the user said, and goes where he asks for it.',
  },
  UPLOAD_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: '{uploadId}',
    meaning:
      'The caller has no such upload, or its file has not been sent to its address, or has expired.',
  },
  UPLOADS_OFF: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The deployment takes no uploads: it sets no UPLOADS_BUCKET.',
  },
  UPLOAD_TYPE_MISMATCH: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'The file is not what its media type or size says.',
  },
  FILES_TOO_LARGE: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'The uploads of the message are too large together.',
  },
  USER_DAILY_CREATIONS: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'declared',
    meaning:
      'The user has made as many conversations, forks, devices and notes as they may in a day; come back at `resetTime`.',
  },
  USER_DAILY_UPLOADS: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'declared',
    meaning: 'The user has begun as many uploads as they may in a day.',
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
  },
  CONVERSATION_BUSY: {
    status: 'ABORTED',
    on: 'declared',
    meaning: 'The conversation keeps changing; try again in a moment.',
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
    meaning: 'Feedback is given on answers, not on user messages.',
  },
  FIELD_NOT_WRITABLE: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'The field is set by the deployment.',
  },
  TOOL_CALL_NOT_FOUND: {
    status: 'NOT_FOUND',
    on: 'declared',
    meaning: 'The turn has no such call that the app answers; the message lists those that wait.',
  },
  TOOL_RESULT_CONFLICT: {
    status: 'ALREADY_EXISTS',
    on: 'declared',
    meaning: 'The call has another answer already, or its turn has ended.',
  },
  TOOL_NAME_TAKEN: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'A tool of the app has the name of one that the server runs.',
  },
  THRESHOLD_TOO_HIGH: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'The threshold is above the one of the deployment.',
  },
  THRESHOLD_TOO_LOW: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'The threshold comes to fewer tokens than the least there is.',
  },
  ROUTING_NOT_SET: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'The model is to be `auto`, and the deployment names no models to choose from.',
  },
  HOOK_NOT_ALLOWED: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'Hooks may name https addresses of hosts that the deployment lists only.',
  },
  BAD_SETTING: {
    status: 'INVALID_ARGUMENT',
    on: 'declared',
    meaning: 'A setting is out of its range.',
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
  },
  COMPACTION_RUNNING: {
    status: 'ABORTED',
    on: 'declared',
    meaning: 'A compaction of the conversation is queued or running.',
  },
  COMPACTION_LIMIT: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'declared',
    meaning: 'The conversation was compacted as often as it may be for now.',
  },
  GENERATION_ERASED: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The generation told of a message that was erased.',
  },
  GENERATION_OUTDATED: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The generation tells of messages that were edited since.',
  },
  SNAPSHOT_INVALID: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The summary of the generation was not written by this service.',
  },
  PIN_BUDGET: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The pins of the conversation would be too many or too long.',
  },
  WRITE_REFUSED: {
    status: 'INVALID_ARGUMENT',
    on: 'write',
    meaning: 'What is to be stored is too large or holds what cannot be stored.',
  },
} as const satisfies Record<string, ErrorReasonRow>;
