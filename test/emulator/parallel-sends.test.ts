import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import { AppError } from '#shared/errors.ts';
import { startEmulatorStack, type EmulatorStack } from '../support/processes/emulator-stack.ts';

let stack: EmulatorStack;
beforeAll(async () => {
  stack = await startEmulatorStack();
});
afterAll(() => stack.stop());

const request = (conversationId: string, text: string, id: string = randomUUID()) => ({
  caller: { uid: 'u1', tier: 'signedIn' as const },
  conversationId,
  message: { id, parts: [{ text }] },
});

/** A phone that comes back when it is told to. */
async function sendUntilAnswered(conversationId: string, text: string) {
  const send = request(conversationId, text);
  for (;;) {
    try {
      return await (
        await sendMessage(stack.chat, send)
      ).result;
    } catch (error) {
      if (!(error instanceof AppError && error.retryable)) throw error;
      // What it is told is for the length of an answer; the fake Gemini answers at once.
      await delay(Math.random() * 50);
    }
  }
}

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

  test('twenty messages sent at once on the database are all stored, with dense seq', async () => {
    const conversationId = randomUUID();
    const texts = Array.from({ length: 20 }, (_, i) => `message ${i}`);

    await Promise.all(texts.map((text) => sendUntilAnswered(conversationId, text)));

    const seqs = texts.map((_, i) => i + 1);
    const turns = await readTurns(stack.chat.store, conversationId, seqs);
    expect(turns.map(({ value }) => contentText(value.user)).toSorted()).toEqual(texts.toSorted());
    expect(turns.every(({ value }) => value.state === 'done')).toBe(true);
  }, 60_000);
});
