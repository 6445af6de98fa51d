import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { findFaults, type Finding } from './invariants.ts';
import { loadConversation, type Reading } from './load.ts';

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
