import { newConversation } from '#shared/conversation/documents/conversation.ts';
import type { TurnDocument } from '#shared/conversation/documents/turn.ts';
import { OVERTAKE_GRACE_MS } from '#shared/conversation/start-decision.ts';

export const now = new Date('2026-01-02T03:04:05Z');
export const later = new Date(now.getTime() + 10_000);
export const earlier = new Date(now.getTime() - 1);
/** The end of a lease whose grace is over too. */
export const longAgo = new Date(now.getTime() - OVERTAKE_GRACE_MS);

export const emptyConversation = newConversation({
  epoch: 'e',
  ownerUid: 'owner',
  model: 'gemini-3.8-flash',
  profile: 'assistant',
  systemInstruction: undefined,
  now,
});

/** A turn as it is stored: the fourth one, which is being answered. */
export const turnDocument = (
  fields: Partial<TurnDocument['value']> = {},
): TurnDocument['value'] => ({
  schemaVersion: 1,
  seq: 4,
  messageId: 'id',
  state: 'running',
  attempt: 1,
  producer: 'p',
  leaseUntil: later,
  createTime: now,
  tokens: { user: 1, answer: 0 },
  inContext: false,
  userJson: '{}',
  userPieces: 0,
  answerJson: '[]',
  answerPieces: 0,
  ...fields,
});
