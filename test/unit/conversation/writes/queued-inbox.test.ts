import { newConversation } from '#shared/conversation/documents/conversation.ts';
import { enqueueWrites } from '#shared/conversation/writes/turn-writes.ts';
import { expect, test } from 'vitest';

const now = new Date('2026-01-02T03:04:05.000Z');
const begun = newConversation({
  epoch: 'e1',
  ownerUid: 'ann',
  model: 'house-model',
  profile: 'assistant',
  systemInstruction: undefined,
  now,
});
const answered = { seq: 4, state: 'done' as const, time: now };

/** What a message that waits behind turn 6 changes of what was read. */
function readWith(conversation: Partial<typeof begun>, isFromServer: boolean) {
  const value = { ...begun, lastSeq: 6, ...conversation };
  const writes = enqueueWrites({
    conversationId: 'c1',
    messageId: 'm7',
    bodyHash: 'h7',
    seq: 7,
    user: { role: 'user', parts: [{ text: 'And?' }] },
    userTokens: 1,
    isFromServer,
    lease: { producer: 'p1', leaseUntil: now },
    now,
    conversation: { value, updateTime: '1.1' },
    queue: { first: 7, leaseUntil: now },
  });
  const entry = writes.find(({ path }) => path === 'users/ann/inbox/c1');
  const { readSeq, unread } = entry && 'fields' in entry ? entry.fields : {};
  return { readSeq, unread };
}

const open = { seq: 6, leaseUntil: now };

test.each([
  ['the last answer that has ended', { answered }, { readSeq: 4, unread: false }],
  ['all before the running turn', { answered, open }, { readSeq: 5, unread: false }],
  ['nothing where nothing has ended', {}, { readSeq: 0, unread: false }],
])('a message that waits marks as read: %s', (_, conversation, read) => {
  expect(readWith(conversation, false)).toEqual(read);
});

test('a message that waits and that a server has sent marks nothing as read', () => {
  expect(readWith({ answered, open }, true)).toEqual({ readSeq: undefined, unread: undefined });
});
