import { eraseUser } from '#functions/chat/conversations/erase/erase-user.ts';
import { eraseConversation } from '#functions/worker/push/erase-conversation.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';
import { neverAborted } from './compacted-conversation.ts';
import { CANARY, owner, type Lifecycle } from '../chat/lifecycle.ts';
import { readableFields } from '../stores/readable-fields.ts';

/** Does what the erase events that were published ask for. */
export async function serveErasures(world: Lifecycle): Promise<void> {
  for (const { data } of world.chat.published)
    if ('kind' in data && data.kind === 'erase' && 'conversationId' in data)
      await eraseConversation(world.bench, String(data.conversationId), neverAborted());
}

/** What tells of the person or of what was said: every document that is no tombstone, or not an empty one. */
export async function remainsOf(world: Lifecycle): Promise<string[]> {
  const traces = [CANARY, 'Question', 'Answer', 'temple', 'u1', 'message-'];
  const isClean = (fields: DocumentFields) =>
    fields['state'] === 'erased' &&
    fields['ownerUid'] === '' &&
    !traces.some((trace) => readableFields(fields).includes(trace));
  const documents = await world.documents();
  return documents.filter(({ fields }) => !isClean(fields)).map(({ path }) => path);
}

/** Asks for the erasure of the user, and does what the events ask for. */
export const erase = async (world: Lifecycle) => {
  const result = await eraseUser(world.chat, { caller: owner });
  await serveErasures(world);
  return result;
};
