import type { ConstantTable } from '#shared/constant.ts';

/** Numbers of the check that a statement is borne out by the turns it cites. */
export const precisionConstants = {
  inventedFraction: {
    value: 0.5,
    unit: 'fraction of the checked items, or of their values',
    origin:
      'an answer of which most is from no folded turn is of another conversation; recorded answers of a capable model lose none',
    configure: 'fixed',
  },
  inventedItemAllowance: {
    value: 2,
    unit: 'items',
    origin: 'a short snapshot may lose as many: a slip is no invention',
    configure: 'fixed',
  },
  inventedValueAllowance: {
    value: 8,
    unit: 'values',
    origin: 'fewer values tell nothing of the whole answer',
    configure: 'fixed',
  },
  borneOutShare: {
    value: 0.2,
    unit: 'fraction of the words',
    origin: 'an item without a confirmed value and with fewer words of any folded turn is dropped',
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
  comparedSentenceLimit: {
    value: 4_000,
    unit: 'sentences',
    origin: 'those of the cited turns that a copied sentence is compared with',
    configure: 'fixed',
  },
  inheritedShare: {
    value: 0.5,
    unit: 'fraction of the words of a known item',
    origin: 'an item with so many of them says what that one said, and cites its turns too',
    configure: 'fixed',
  },
  neighbourTurns: {
    value: 2,
    unit: 'turns',
    origin: 'models cite the turn before or after the right one',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;
