import { listConversations } from '#functions/chat/inbox/list-conversations.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { newConversation } from '#shared/conversation/documents/conversation.ts';
import { firstInboxWrites } from '#shared/conversation/documents/inbox.ts';
import type { EmulatedChat } from './emulated-chat.ts';
import { randomUUID } from 'node:crypto';

const ENTRIES_PER_COMMIT = 400;
const PAGE_SIZE = 10;

/** A user with so many conversations, of whom nothing is stored but the inbox. */
export async function createListedUser(
  { store }: Pick<ChatDependencies, 'store'>,
  conversations: number,
): Promise<string> {
  const ownerUid = `user-${randomUUID()}`;
  const instructions = { systemInstruction: undefined, profile: 'assistant' } as const;
  const entries = Array.from({ length: conversations }, (_, n) => {
    const now = new Date(Date.UTC(2026, 0, 1) + n * 60_000);
    const begun = newConversation({ ...instructions, epoch: '', ownerUid, model: 'house', now });
    return firstInboxWrites(randomUUID(), { ...begun, title: `Conversation ${n}` }, now);
  }).flat();
  for (let first = 0; first < entries.length; first += ENTRIES_PER_COMMIT)
    await store.commit(entries.slice(first, first + ENTRIES_PER_COMMIT));
  return ownerUid;
}

/** Documents that the first ten rows of the list take. */
export async function firstPageReads(
  { chat, counted }: Pick<EmulatedChat, 'chat' | 'counted'>,
  uid: string,
): Promise<number> {
  counted.take();
  const caller = { uid, tier: 'signedIn' } as const;
  const page = await listConversations(chat, { caller, list: 'active', pageSize: PAGE_SIZE });
  if (page.entries.length !== PAGE_SIZE) throw new Error(`${page.entries.length} rows`);
  return counted.take().reads;
}
