import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { startEmulatorStack, type EmulatorStack } from '../support/processes/emulator-stack.ts';
import { edit, shownTexts } from '../support/chat/replacing.ts';
import { request } from '../support/chat/sending.ts';
import { answered, queued, turnsOf } from '../support/chat/starts.ts';
import { raceTests } from '../usecases/quota/race.suite.ts';

let stack: EmulatorStack;
beforeAll(async () => {
  stack = await startEmulatorStack();
});
afterAll(() => stack.stop());

describe('contract 8: on the database, twenty sends at once', () => {
  test('twenty sends of one message id on the database are one turn and one model call', async () => {
    const conversationId = randomUUID();
    const send = request(conversationId, 'Hello there');
    stack.fakeGemini.clearJournal();

    const handles = await Promise.all(
      Array.from({ length: 20 }, () => sendMessage(stack.chat, send)),
    );
    const results = await Promise.all(handles.map(({ result }) => result));

    expect(new Set(results.map(({ turn }) => JSON.stringify(turn.contents))).size).toBe(1);
    expect((await readConversation(stack.chat.store, conversationId))?.value.lastSeq).toBe(1);
    expect(stack.fakeGemini.journal().map(({ promptId }) => promptId)).toEqual(['t_1']);
  });

  test('twenty messages sent at once on the database are all answered, in the order of seq', async () => {
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
});

test('an edit on the database takes everything after it out of the context in one batch', async () => {
  const conversationId = randomUUID();
  const first = request(conversationId, 'one');
  await answered(stack.chat, first);
  for (const text of ['two', 'three']) await answered(stack.chat, request(conversationId, text));

  await answered(stack.chat, edit(conversationId, first.message.id, 'one, corrected'));

  const turns = await turnsOf(stack.chat, conversationId, 4);
  expect(turns.map(({ inContext }) => inContext)).toEqual([false, false, false, true]);
  expect((await shownTexts(stack.chat, conversationId))[0]).toBe('one, corrected');
}, 60_000);

describe('one user, many messages at once, on the database', () => {
  raceTests(() => stack.chat.store);
});
