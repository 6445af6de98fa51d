import type { ErrorReasonRow } from './reason-row.ts';

/** Why what the model sees of a conversation cannot be changed: its compactions, generations and pins. */
export const contextReasons = {
  COMPACTION_RUNNING: {
    status: 'ABORTED',
    on: 'declared',
    meaning:
      'A compaction of the conversation is queued or running. Wait for it; `GET …/compactions` says how it stands.',
    retry: 'later',
  },
  COMPACTION_LIMIT: {
    status: 'RESOURCE_EXHAUSTED',
    on: 'declared',
    meaning:
      'The conversation was compacted as often as it may be for now. Wait as `Retry-After` says.',
    retry: 'later',
  },
  GENERATION_ERASED: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The generation told of a message that was erased. Restore another generation.',
  },
  GENERATION_OUTDATED: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The generation tells of messages that were edited since. Restore another generation.',
  },
  SNAPSHOT_UNREADABLE: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The stored summary of the generation is damaged. Restore another generation.',
  },
  PIN_BUDGET: {
    status: 'FAILED_PRECONDITION',
    on: 'declared',
    meaning: 'The pins of the conversation would be too many or too long. Delete or shorten pins.',
  },
} as const satisfies Record<string, ErrorReasonRow>;
