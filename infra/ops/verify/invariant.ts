import type { Stored, StoredConversation } from './stored.ts';

/** A place where an invariant does not hold. */
export interface Breach {
  /** Of the document, from the root. */
  path: string;
  /** What stands there instead: ids, numbers and names of fields, nothing of what was said. */
  is: string;
}

/** What must hold of the documents of a conversation; docs/guides/ops.md explains I1 to I8. */
export interface Invariant<Documents extends Stored = StoredConversation> {
  group: `I${number}`;
  shouldBe: string;
  remedy: string;
  breaches: (stored: Documents) => readonly Breach[];
}

/** What several invariants are mended by. */
export const remedies = {
  fromBackup:
    'bring the document back from a backup or by point-in-time recovery; nothing here can know what it said',
  rebuild:
    '`restore ID --generation 0` puts every turn back word for word, `compact ID` folds them anew',
  restoreEarlier:
    '`restore ID --generation N` with an earlier N that verifies, or N = 0 for every turn word for word',
  bySweep:
    'the sweep mends it within five minutes; if it stays, look for `sweep_failed` in the log',
  eraseAgain: '`erase ID` erases all that is left',
} as const;
