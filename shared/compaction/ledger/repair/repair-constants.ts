import type { ConstantTable } from '#shared/constant.ts';

/** Numbers of what code puts back of what the user stated, itself or by a second call. */
export const repairConstants = {
  copiedStatementShare: {
    value: 0.2,
    unit: 'fraction of the statements',
    origin:
      'recorded answers of a capable model copy at most a tenth, summarisers that extract nearly all',
    configure: 'fixed',
  },
  copiedRepairFraction: {
    value: 0.25,
    unit: 'fraction of the snapshot budget',
    origin: 'what code puts back where the summariser only copies sentences',
    configure: 'fixed',
  },
  sparseFraction: {
    value: 0.1,
    unit: 'fraction of the snapshot budget',
    origin:
      'placeholders and one line again and again take less; answers of a capable model took more (35 recordings)',
    configure: 'fixed',
  },
  addedTokens: {
    value: 60,
    unit: 'tokens',
    origin: 'two sentences with a reference: in a small snapshot a twentieth has room for none',
    configure: 'fixed',
  },
  addedFraction: {
    value: 0.05,
    unit: 'fraction of the snapshot',
    origin: 'what code adds to a summary that chose for itself; readers need little of it',
    configure: 'fixed',
  },
  heldWishShare: {
    value: 0.4,
    unit: 'fraction of the words of a wish',
    origin:
      'a summariser that writes its own statements shortens; with so many words in one item the wish is told',
    configure: 'fixed',
  },
  archivedRepairLimit: {
    value: 100,
    unit: 'items',
    origin: 'sentences that code archives at once, the weightiest first',
    configure: 'fixed',
  },
  repairFactLimit: {
    value: 80,
    unit: 'facts a repair call',
    origin: 'the weightiest; a longer list is copied rather than worked in',
    configure: 'fixed',
  },
  repairSentenceCharacters: {
    value: 200,
    unit: 'characters',
    origin: 'enough to see what the fact is about; the turn is shown as well',
    configure: 'fixed',
  },
  correctionValues: {
    value: 5,
    unit: 'values',
    origin: 'fewer are not worth a call; one that does harm counts as two',
    configure: 'fixed',
  },
  correctionFacts: {
    value: 3,
    unit: 'facts',
    origin: 'fewer are added by code',
    configure: 'fixed',
  },
  shortQuoteCharacters: {
    value: 100,
    unit: 'characters',
    origin: 'words around a fact where whole sentences do not fit',
    configure: 'fixed',
  },
  questionWeight: {
    value: 0.4,
    unit: 'fraction of the weight of its facts',
    origin:
      'what a question names is worth less of the room for sentences than what a statement tells',
    configure: 'fixed',
  },
} as const satisfies ConstantTable;
