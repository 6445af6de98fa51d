import type { ConstantTable } from '#shared/constant.ts';

/** Numbers of what the summariser writes, of its check and of the room that it has. */
export const engineConstants = {
  answerCharacters: {
    value: 400_000,
    unit: 'characters',
    origin: 'far above the bound of an answer in tokens; keeps reading bounded',
    configure: 'fixed',
  },
  attachmentCharacters: {
    value: 10_000_000,
    unit: 'characters of base64',
    origin:
      'Gemini takes requests up to 20 MB with inline data; the text of a chunk needs room too',
    configure: 'fixed',
  },
  operationLimit: {
    value: 500,
    unit: 'operations an answer',
    origin: 'several times what the largest snapshot holds; the rest is counted as skipped',
    configure: 'fixed',
  },
  invalidOperationFraction: {
    value: 0.5,
    unit: 'fraction of the operations',
    origin: 'single bad operations are skipped; an answer with more did not understand the task',
    configure: 'fixed',
  },
  itemTextCharacters: {
    value: 1_500,
    unit: 'characters',
    origin: 'more than twice what the prompt asks for; what is longer is cut behind a clause',
    configure: 'fixed',
  },
  topicTitleCharacters: {
    value: 60,
    unit: 'characters',
    origin: 'a line of the timeline names a topic and tells nothing of it',
    configure: 'fixed',
  },
  topicCharacters: {
    value: 1_000,
    unit: 'characters of room for each topic of a fold',
    origin: 'three folds fill the tenth of the room that the timeline has',
    configure: 'fixed',
  },
  topicMinimum: {
    value: 4,
    unit: 'topics a fold',
    origin: 'fewer tell no order',
    configure: 'fixed',
  },
  constraintQuoteCharacters: {
    value: 4,
    unit: 'characters',
    origin: 'a shorter sentence says nothing alone (ideographs, kana and Hangul count twice)',
    configure: 'fixed',
  },
  withdrawalQuoteCharacters: {
    value: 8,
    unit: 'characters',
    origin: 'ending a rule takes more of the user’s words than making one, or the whole message',
    configure: 'fixed',
  },
  constraintCharacters: {
    value: 1_000,
    unit: 'characters',
    origin: 'several long sentences; a longer quote is a text that the user shows',
    configure: 'fixed',
  },
  unsaidValueFraction: {
    value: 0.5,
    unit: 'fraction of the values of new statements',
    origin: 'an answer of which nobody said more is about another conversation',
    configure: 'fixed',
  },
  unsaidValueMinimum: {
    value: 3,
    unit: 'values',
    origin: 'fewer are slips',
    configure: 'fixed',
  },
  talkWordFraction: {
    value: 0.6,
    unit: 'fraction of the words',
    origin: 'a goal or a step with more of the words of user and model than this is theirs',
    configure: 'fixed',
  },
  toolWordFraction: {
    value: 0.7,
    unit: 'fraction of the words',
    origin:
      'one that is not, with this many words of the cited turns, is a tool’s: it is kept as knowledge',
    configure: 'fixed',
  },
  strangerWordFraction: {
    value: 0.875,
    unit: 'fraction of the words',
    origin:
      'a clause with this many of its words close together in what a tool says, and not in what the user says, is the tool’s whoever repeats it',
    configure: 'fixed',
  },
  strangerClauseFraction: {
    value: 0.75,
    unit: 'fraction of the words',
    origin:
      'a statement with this many of its words in clauses of a tool is a page that was copied',
    configure: 'fixed',
  },
  archiveItemLimit: {
    value: 400,
    unit: 'items',
    origin: 'bounds the history document; what leaves is still found in the transcript',
    configure: 'fixed',
  },
  archiveCharacters: {
    value: 60_000,
    unit: 'characters of JSON',
    origin: 'with three bytes a character far below the 1 MiB of a document',
    configure: 'fixed',
  },
  constraintRoomFraction: {
    value: 0.35,
    unit: 'fraction of the room',
    origin: 'with more of them nothing else has room: the oldest of least importance go',
    configure: 'fixed',
  },
  timelineRoomFraction: {
    value: 0.1,
    unit: 'fraction of the room',
    origin: 'the order of what came up; older lines go to the archive',
    configure: 'fixed',
  },
  roomGrowth: {
    value: 0.25,
    unit: 'of the budget for each of the next two folds',
    origin: 'three folds have more to say than one; then the room stands',
    configure: 'fixed',
  },
  roomGrowthFolds: {
    value: 2,
    unit: 'folds',
    origin: 'a summary must not grow with what it covers',
    configure: 'fixed',
  },
  newShare: {
    value: 0.35,
    unit: 'fraction of the room',
    origin:
      'what a fold may say at least where the room is full (of the second one half): as much leaves for the archive',
    configure: 'fixed',
  },
  roomOvershoot: {
    value: 1.15,
    unit: '× room',
    origin: 'models write a little more than they are told; what they chose stays',
    configure: 'fixed',
  },
  roomOfFolded: {
    value: 0.85,
    unit: 'fraction of what is replaced',
    origin: 'a context must get smaller',
    configure: 'fixed',
  },
  roomFloorTokens: {
    value: 300,
    unit: 'tokens',
    origin: 'below it the sections have no room',
    configure: 'fixed',
  },
  reportListLimit: {
    value: 50,
    unit: 'entries',
    origin: 'each list of a report; counts are complete',
    configure: 'fixed',
  },
  reportTextCharacters: {
    value: 200,
    unit: 'characters',
    origin: 'a sentence in a report',
    configure: 'fixed',
  },
  fallbackLineCharacters: {
    value: 300,
    unit: 'characters',
    origin: 'the beginning of a message where no model says what it is about',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;
