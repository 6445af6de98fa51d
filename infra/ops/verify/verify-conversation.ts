import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { checkAll, type Checking } from './check-all.ts';
import type { Finding } from './finding.ts';
import { loadConversation, type Reading } from './load/load-conversation.ts';

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

/**
 * Reads all documents of a conversation and checks them. Documents are read one after the other, so a conversation
 * in which conversation document or job changed meanwhile is read again. Throws StoreUnavailableError.
 */
export async function verifyConversation(
  reading: Reading & Checking,
  conversationId: string,
): Promise<Verified> {
  for (let tries = 1; ; tries += 1) {
    const stamp = await stampOf(reading, conversationId);
    const loaded = await loadConversation(reading, conversationId);
    const findings = checkAll(loaded, reading);
    const isBusy = findings.length > 0 && (await stampOf(reading, conversationId)) !== stamp;
    if (isBusy && tries < READ_TRIES) continue;
    return {
      conversationId,
      state: loaded.conversation?.state ?? (loaded.unreadable.length > 0 ? 'unreadable' : 'none'),
      findings: isBusy ? [] : findings,
      turns: loaded.turns.length,
      generations: loaded.conversation?.generation ?? 0,
      isBusy,
    };
  }
}

/** What changes with every step of a turn's life or a compaction's. */
async function stampOf({ store }: Reading, conversationId: string): Promise<string> {
  const documents = await store.get([
    conversationPath(conversationId),
    compactionJobPath(conversationId),
  ]);
  return documents.map((document) => document?.updateTime ?? '-').join(' ');
}
