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

export type ImportDecision =
  | { kind: 'create' }
  /** The first turns stand there; those from `first` on are missing. */
  | { kind: 'append'; first: number }
  | { kind: 'unchanged' }
  | { kind: 'leave'; reason: LeftReason };

/**
 * A conversation that an import has begun and not ended waits in the bin, where nobody can write in it; it has no date
 * of its own to be purged at.
 */
export const isBeingImported = ({ state, purgeTime }: Conversation): boolean =>
  state === 'deleted' && purgeTime === undefined;

const decideMissing = (
  { conversation }: { conversation: Conversation },
  messageCount: number,
): ImportDecision =>
  conversation.lastSeq === messageCount && !isBeingImported(conversation)
    ? { kind: 'unchanged' }
    : { kind: 'append', first: conversation.lastSeq + 1 };

/**
 * What an import does with a discussion: `stored` is the conversation under its id, and the message id of its last turn.
 * Nothing is written behind a turn that the import did not write. Pure.
 */
export function decideImport(
  source: { ownerUid: string; messageIds: readonly string[] },
  stored: { conversation: Conversation; lastMessageId: string | undefined } | undefined,
): ImportDecision {
  if (!stored) return { kind: 'create' };
  const { conversation, lastMessageId } = stored;
  const { state, ownerUid, lastSeq } = conversation;
  if (state === 'erasing' || state === 'erased') return { kind: 'leave', reason: 'deleted' };
  if (ownerUid !== source.ownerUid) return { kind: 'leave', reason: 'other-owner' };
  if (state === 'deleted' && !isBeingImported(conversation))
    return { kind: 'leave', reason: 'deleted' };
  const { messageIds } = source;
  if (lastSeq === 0 || messageIds[lastSeq - 1] === lastMessageId)
    return decideMissing({ conversation }, messageIds.length);
  const isImported = lastMessageId !== undefined && messageIds.includes(lastMessageId);
  return { kind: 'leave', reason: isImported ? 'source-changed' : 'continued' };
}
