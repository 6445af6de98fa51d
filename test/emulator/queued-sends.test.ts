import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { startEmulatorStack, type EmulatorStack } from '../support/processes/emulator-stack.ts';
import { edit, shownTexts } from '../support/chat/replacing.ts';
import { request } from '../support/chat/sending.ts';
import { answered, queued, turnsOf } from '../support/chat/starts.ts';

let stack: EmulatorStack;
beforeAll(async () => {
  stack = await startEmulatorStack();
});
afterAll(() => stack.stop());

describe('on the database', () => {
  test('twenty queued messages sent at once are all answered in the order of seq', async () => {
    const conversationId = randomUUID();
    stack.fakeGemini.clearJournal();

    const turns = await Promise.all(
      Array.from({ length: 20 }, (_, i) => answered(stack.chat, queued(conversationId, `m${i}`))),
    );

    const seqs = turns.map(({ seq }) => seq).toSorted((a, b) => a - b);
    expect(seqs).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(turns.every(({ state }) => state === 'done')).toBe(true);
    expect(stack.fakeGemini.journal().map(({ promptId }) => promptId)).toEqual(
      seqs.map((seq) => `t_${seq}`),
    );
    expect((await readConversation(stack.chat.store, conversationId))?.value.queue).toBeUndefined();
  }, 60_000);

  test('an edit takes everything after it out of the context in one batch', async () => {
    const conversationId = randomUUID();
    const first = request(conversationId, 'one');
    await answered(stack.chat, first);
    for (const text of ['two', 'three']) await answered(stack.chat, request(conversationId, text));

    await answered(stack.chat, edit(conversationId, first.message.id, 'one, corrected'));

    const turns = await turnsOf(stack.chat, conversationId, 4);
    expect(turns.map(({ inContext }) => inContext)).toEqual([false, false, false, true]);
    expect((await shownTexts(stack.chat, conversationId))[0]).toBe('one, corrected');
    expect(turns.map(({ user }) => contentText(user)).slice(0, 3)).toEqual(['one', 'two', 'three']);
  }, 60_000);
});
