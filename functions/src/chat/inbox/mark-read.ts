import { retryWhenLost } from '#functions/lib/retry.ts';
import { decodeInboxEntry, type InboxEntry } from '#shared/conversation/documents/inbox.ts';
import { inboxPath } from '#shared/conversation/documents/paths.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { ConversationTarget } from '../conversations/own-conversation.ts';
import { notFoundError } from '../not-found.ts';

/** What was read when a device says that it has shown the answers up to `seq`: never fewer than before. */
function readThrough(
  { readSeq, answered }: Pick<InboxEntry, 'readSeq' | 'answered'>,
  seq: number,
): Pick<InboxEntry, 'readSeq' | 'unread'> {
  const answeredSeq = answered?.seq ?? 0;
  const read = Math.max(readSeq, Math.min(seq, answeredSeq));
  return { readSeq: read, unread: answeredSeq > read };
}

/**
 * Notes that the user has read the answers up to turn `seq`; an answer that has not ended cannot be read yet. Devices may
 * say it in any order and more than once. Only the entry of the inbox is written, so it is in the way of no message.
 * Throws NOT_FOUND, GuardLostError when others won every try.
 */
export async function markRead(
  { store, clock }: Pick<ChatDependencies, 'store' | 'clock'>,
  { caller, conversationId, seq }: ConversationTarget & { seq: number },
): Promise<InboxEntry> {
  const path = inboxPath(caller.uid, conversationId);
  return retryWhenLost(clock, async () => {
    const [document] = await store.get([path]);
    const entry = document && decodeInboxEntry(document);
    if (!entry || entry.list === 'gone' || entry.list === 'deleted') throw notFoundError();
    const read = readThrough(entry, seq);
    if (read.readSeq === entry.readSeq && read.unread === entry.unread) return entry;
    const fields = { ...read, changeTime: clock.now() };
    await store.commit([
      { op: 'update', path, fields, guard: { updateTime: document.updateTime } },
    ]);
    return { ...entry, ...fields };
  });
}
