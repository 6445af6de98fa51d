import type { Conversation } from '#shared/conversation/documents/conversation.ts';

/** Why a discussion is left as it is. */
export const leftReasons = {
  continued: 'written in since it was imported',
  deleted: 'deleted in Recap since it was imported',
  'other-owner': 'belongs to another user',
  'source-changed': 'has lost, gained or reordered documents between those that were imported',
  'too-long': 'has more documents than one conversation takes',
  'too-large': 'has a document that is too large to be stored',
} as const;
export type LeftReason = keyof typeof leftReasons;

/**
 * A conversation that an import has begun and not ended waits in the bin, where nobody can write in it; it has no date
 * of its own to be purged at.
 */
export const isBeingImported = ({ state, purgeTime }: Conversation): boolean =>
  state === 'deleted' && purgeTime === undefined;

/**
 * What an import does with a discussion: the number of the first turn that is missing, or why nothing is written.
 * `stored` is the conversation under its id, and the message id of its last turn. Nothing is written behind a turn that
 * the import did not write. Pure.
 */
export function decideImport(
  { ownerUid, messageIds }: { ownerUid: string; messageIds: readonly string[] },
  stored: { conversation: Conversation; lastMessageId: string | undefined } | undefined,
): { first: number } | 'unchanged' | LeftReason {
  if (!stored) return { first: 1 };
  const { conversation, lastMessageId } = stored;
  const { state, lastSeq } = conversation;
  if (state === 'erasing' || state === 'erased') return 'deleted';
  if (conversation.ownerUid !== ownerUid) return 'other-owner';
  if (state === 'deleted' && !isBeingImported(conversation)) return 'deleted';
  if (lastSeq > 0 && messageIds[lastSeq - 1] !== lastMessageId)
    return messageIds.includes(lastMessageId ?? '') ? 'source-changed' : 'continued';
  const isWhole = lastSeq === messageIds.length && !isBeingImported(conversation);
  return isWhole ? 'unchanged' : { first: lastSeq + 1 };
}
