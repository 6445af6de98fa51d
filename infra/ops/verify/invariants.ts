import { compactionInvariants } from './compaction.ts';
import { contextInvariants } from './context.ts';
import { endOfErasure, erasedTurnInvariants, remainsInvariants } from './erasure.ts';
import type { Breach, Invariant } from './invariant.ts';
import { readableInvariants } from './readable.ts';
import type { Stored } from './stored.ts';
import { transcriptInvariants } from './transcript.ts';

const wholeInvariants = {
  ...transcriptInvariants,
  ...contextInvariants,
  ...compactionInvariants,
  ...endOfErasure,
  ...erasedTurnInvariants,
};

/** All that must hold of the documents of a conversation, by the name of the finding where it does not. */
export const invariants = { ...readableInvariants, ...wholeInvariants, ...remainsInvariants };

export type InvariantName = keyof typeof invariants;

/** One thing that is wrong: where, what is there, what should be, and what to do. */
export interface Finding extends Breach, Pick<Invariant, 'group' | 'shouldBe' | 'remedy'> {
  name: InvariantName;
}

function findingsOf<Documents extends Stored>(
  table: Partial<Record<InvariantName, Invariant<Documents>>>,
  stored: Documents,
): Finding[] {
  return (Object.entries(table) as [InvariantName, Invariant<Documents>][]).flatMap(
    ([name, { group, shouldBe, remedy, breaches }]) =>
      breaches(stored).map((breach) => ({ name, group, shouldBe, remedy, ...breach })),
  );
}

/** All that is wrong with one conversation. Pure. */
export function findFaults(stored: Stored): Finding[] {
  const { conversation, unreadable } = stored;
  const unread = findingsOf(readableInvariants, stored);
  // Nobody here can judge what is below a document that cannot be read, or what a later release meant.
  if (unreadable.some(({ kind, isNewer }) => kind === 'head' || isNewer)) return unread;
  if (!conversation || conversation.state === 'erased')
    return [...unread, ...findingsOf(remainsInvariants, stored)];
  // A fork is copied turn by turn: only a finished one is whole.
  if (conversation.state === 'forking') return unread;
  const table = conversation.state === 'erasing' ? endOfErasure : wholeInvariants;
  return [...unread, ...findingsOf(table, { ...stored, conversation })];
}
