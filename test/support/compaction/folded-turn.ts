import type { Turn } from '#shared/conversation/documents/turn.ts';

/** A finished turn in which the user says `text`. */
export const foldedTurn = (seq: number, text: string): Turn => ({
  schemaVersion: 1,
  seq,
  messageId: `message-${seq}`,
  state: 'done',
  attempt: 1,
  producer: 'builder',
  leaseUntil: new Date(0),
  createTime: new Date(0),
  tokens: { user: 1, answer: 1 },
  inContext: true,
  user: { role: 'user', parts: [{ text }] },
  contents: [{ role: 'model', parts: [{ text: 'Noted.' }] }],
});
