import { canonicalJson } from '#shared/lib/json-text.ts';
import { readAnyConversation } from '#shared/conversation/context/read-conversation.ts';
import { inboxFields, inboxWrites } from '#shared/conversation/documents/inbox.ts';
import { inboxPath } from '#shared/conversation/documents/paths.ts';
import { sameConversationWrite } from '#shared/conversation/writes/same-conversation.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { Breach, Invariant, StoredConversation } from './load.ts';

/** Fields of the entry that say something else than the conversation document. */
function differingFields({ conversationId, conversation, inbox }: StoredConversation): Breach[] {
  const path = inboxPath(conversation.ownerUid, conversationId);
  if (!inbox) return [{ path, is: 'it is not there' }];
  const fields = Object.entries(inboxFields(conversation)).filter(
    ([name, value]) => canonicalJson(inbox[name] ?? null) !== canonicalJson(value ?? null),
  );
  if (fields.length === 0) return [];
  return [{ path, is: `${fields.map(([name]) => name).join(', ')} differ from the head` }];
}

export const inboxInvariants = {
  'inbox-differs': {
    group: 'I9',
    shouldBe: 'an entry in the owner’s inbox that says what the head says',
    remedy: '`verify ID --mend-inbox` writes it anew',
    breaches: differingFields,
  },
} as const satisfies Record<string, Invariant>;

/**
 * Writes the entry of the inbox as the conversation document says. What was read is kept where the entry is there. Throws
 * GuardLostError where the conversation changed meanwhile, StoreUnavailableError.
 */
export async function mendInbox(
  store: Pick<DocumentStore, 'get' | 'commit'>,
  conversationId: string,
  now: Date,
): Promise<void> {
  const conversation = await readAnyConversation(store, conversationId);
  if (!conversation) return;
  const { value, updateTime } = conversation;
  const [entry] = await store.get([inboxPath(value.ownerUid, conversationId)]);
  const read = entry ? {} : { readSeq: value.answered?.seq ?? 0, unread: false };
  const writes = inboxWrites(conversationId, value, { now, read });
  if (writes.length === 0) return;
  await store.commit([sameConversationWrite(conversationId, updateTime), ...writes]);
}
