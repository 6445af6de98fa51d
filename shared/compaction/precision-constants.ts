import type { ConstantTable } from './constant.ts';

/** Numbers of the check that a statement is borne out by the turns it cites. */
export const precisionConstants = {
  unsupportedItemFraction: {
    value: 0.05,
    unit: 'fraction of the checked items',
    origin: 'items with figures that their turns do not hold are dropped; more are an invention',
    configure: 'fixed',
  },
  unsupportedItemAllowance: {
    value: 2,
    unit: 'items',
    origin: 'a short snapshot may lose as many: a slip is no invention',
    configure: 'fixed',
  },
  sameSentenceOverlap: {
    value: 0.6,
    unit: 'Dice coefficient of the words',
    origin: 'two sentences that differ in their figures and a few words',
    configure: 'fixed',
  },
  quotedSentenceOverlap: {
    value: 0.2,
    unit: 'Dice coefficient of the words',
    origin: 'a sentence with the quote of the item is about the same more often',
    configure: 'fixed',
  },
  twinOverlap: {
    value: 0.8,
    unit: 'Dice coefficient of the words',
    origin: 'a statement that is nearly word for word what was said: its figures must be the same',
    configure: 'fixed',
  },
  twinOverlapMargin: {
    value: 0.1,
    unit: 'Dice coefficient of the words',
    origin: 'of several such sentences those that are hardly less alike than the best',
    configure: 'fixed',
  },
  twinLimit: {
    value: 50,
    unit: 'sentences',
    origin: 'lines of a table that are compared figure by figure',
    configure: 'fixed',
  },
  alignedMinimum: {
    value: 0.3,
    unit: 'fraction of the words',
    origin: 'where no sentence has more of the words, nobody can tell which one is meant',
    configure: 'fixed',
  },
  alignedTopics: {
    value: 2,
    unit: 'words',
    origin: 'one word in common, such as the name of a month, tells nothing',
    configure: 'fixed',
  },
  alignedShare: {
    value: 0.34,
    unit: 'fraction of the best share',
    origin: 'sentences with as many of the words count as what is said about it',
    configure: 'fixed',
  },
  alignedNeighbours: {
    value: 1,
    unit: 'sentences on each side',
    origin: 'an answer stands next to its question',
    configure: 'fixed',
  },
  alignedRecordLines: {
    value: 12,
    unit: 'lines on each side',
    origin: 'fields of one record of a tool',
    configure: 'fixed',
  },
  alignedSentenceLimit: {
    value: 4_000,
    unit: 'sentences',
    origin: 'an item that cites more of them is checked against all that they say',
    configure: 'fixed',
  },
  neighbourTurns: {
    value: 2,
    unit: 'turns',
    origin: 'models cite the turn before or after the right one',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;
