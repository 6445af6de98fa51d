import type { ConstantTable } from '#shared/constant.ts';

/** Numbers of the `ledger` strategy. */
export const ledgerConstants = {
  ledgerAnswerCharacters: {
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
  ledgerOperationLimit: {
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
    origin: 'a narrative of 200 words; an item is one statement',
    configure: 'fixed',
  },
  itemQuoteCharacters: {
    value: 500,
    unit: 'characters',
    origin: 'a long sentence; the beginning of a quote is a quote',
    configure: 'fixed',
  },
  itemSourceLimit: {
    value: 200,
    unit: 'turns',
    origin: 'an item that more turns repeat keeps its first source and the newest ones',
    configure: 'fixed',
  },
  constraintQuoteCharacters: {
    value: 4,
    unit: 'characters',
    origin: 'a shorter quote occurs in any text (ideographs, kana and Hangul count twice)',
    configure: 'fixed',
  },
  withdrawalQuoteCharacters: {
    value: 8,
    unit: 'characters',
    origin: 'ending a rule takes more of the user’s words than making one, or the whole message',
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
  listElementLimit: {
    value: 30,
    unit: 'elements',
    origin: 'the newest paths, links or identifiers in use; older ones are found by search',
    configure: 'fixed',
  },
  listElementCharacters: {
    value: 200,
    unit: 'characters',
    origin: 'what is longer crowds out the rest of its list',
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
  constraintBudgetFraction: {
    value: 0.35,
    unit: 'fraction of the snapshot budget',
    origin:
      'with more of them nothing else has room (lists of 40 were seen); beyond it the least useful of any section goes',
    configure: 'fixed',
  },
  constraintCeilingFraction: {
    value: 0.75,
    unit: 'fraction of the snapshot budget',
    origin:
      'where a small fold has less room than the policy gives rules: a snapshot of rules alone remembers nothing',
    configure: 'fixed',
  },
  roomUnit: {
    value: 0.8,
    unit: 'fraction of the soft threshold',
    origin: 'what one fold takes out of a context that has reached the threshold',
    configure: 'fixed',
  },
  roomGrowth: {
    value: 0.25,
    unit: 'of the budget for each doubling',
    origin: 'five folds have more to say than one; ADR 0036',
    configure: 'fixed',
  },
  roomMaximum: {
    value: 1.5,
    unit: '× snapshot budget',
    origin: 'pins, snapshot and tail stay below 0.4 × threshold',
    configure: 'fixed',
  },
  roomOvershoot: {
    value: 1.25,
    unit: '× room',
    origin: 'models write a little more than they are told; evicting it would lose what they chose',
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
  listFraction: {
    value: 0.08,
    unit: 'fraction of the snapshot budget',
    origin: 'the list of files, links and identifiers that the user named while coding',
    configure: 'fixed',
  },
  knowledgeHalfAgeTurns: {
    value: 100,
    unit: 'turns',
    origin: 'a statement this much older than the newest turn counts half when room is short',
    configure: 'fixed',
  },
  leftOutListLimit: {
    value: 200,
    unit: 'facts',
    origin: 'the list of what has no room in a snapshot; their count is complete',
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
  fallbackRequestLimit: {
    value: 5,
    unit: 'turns',
    origin: 'what the user asked last, where no model says what was done',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;
