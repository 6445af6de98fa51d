/** The invariants that hold of every stored conversation (docs/guides/ops.md says what each means). */
export type InvariantName = 'I1' | 'I2' | 'I3' | 'I4' | 'I5' | 'I6' | 'I7' | 'I8' | 'I9';

/** One kind of thing that can be wrong. */
export interface Fault {
  invariant: InvariantName;
  shouldBe: string;
  remedy: string;
}

/** What several faults are mended by. */
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
  compactNow: '`compact ID`, or wait for the next message',
} as const;
