import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { compactionInvariants } from './compaction.ts';
import { contextInvariants } from './context.ts';
import { inboxInvariants } from './inbox.ts';
import { endOfErasure, erasedTurnInvariants, remainsInvariants } from './erasure.ts';
import {
  type Breach,
  type Invariant,
  readableInvariants,
  type Stored,
  loadConversation,
  type Reading,
} from './load.ts';
import { transcriptInvariants } from './transcript.ts';

const wholeInvariants = {
  ...transcriptInvariants,
  ...contextInvariants,
  ...compactionInvariants,
  ...endOfErasure,
  ...erasedTurnInvariants,
  ...inboxInvariants,
};

/** All that must hold of the documents of a conversation, by the name of the finding where it does not. */
export const invariants = { ...readableInvariants, ...wholeInvariants, ...remainsInvariants };

export type InvariantName = keyof typeof invariants;

/** One thing that is wrong: where, what is there, what should be, and what to do. */
interface Finding extends Breach, Pick<Invariant, 'group' | 'shouldBe' | 'remedy'> {
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

/** How often a conversation is read that changes while it is read. */
const READ_TRIES = 5;

/** What was found in one conversation. */
export interface Verified {
  conversationId: string;
  /** `none`: there is no such conversation, nor anything below it. */
  state: string;
  findings: Finding[];
  turns: number;
  generations: number;
  /** It changed during every reading: what was found may be of two moments, and is left out. */
  isBusy: boolean;
}

/** What changes with every step of a turn's life or a compaction's. */
async function stampOf({ store }: Reading, conversationId: string): Promise<string> {
  const paths = [conversationPath(conversationId), compactionJobPath(conversationId)];
  const documents = await store.get(paths);
  return documents.map((document) => document?.updateTime ?? '-').join(' ');
}

/**
 * Reads all documents of a conversation and checks them. Documents are read one after the other, so a conversation
 * whose own document or job changed meanwhile is read again. Throws StoreUnavailableError.
 */
export async function verifyConversation(
  reading: Reading,
  conversationId: string,
): Promise<Verified> {
  for (let tries = 1; ; tries += 1) {
    const stamp = await stampOf(reading, conversationId);
    const stored = await loadConversation(reading, conversationId);
    const findings = findFaults(stored);
    const isBusy = findings.length > 0 && (await stampOf(reading, conversationId)) !== stamp;
    if (isBusy && tries < READ_TRIES) continue;
    return {
      conversationId,
      state: stored.conversation?.state ?? (stored.unreadable.length > 0 ? 'unreadable' : 'none'),
      findings: isBusy ? [] : findings,
      turns: stored.turns.length,
      generations: stored.conversation?.generation ?? 0,
      isBusy,
    };
  }
}
