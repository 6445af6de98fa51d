import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { errorOf, startChatServer, type ChatServer } from '#test/support/chat/chat-server.ts';
import {
  finish,
  framesOf,
  greeting,
  handWrittenSend,
  newMessagesPath,
  someContext,
} from '#test/support/compaction/hand-written-turn.ts';
import { overloaded } from '#test/support/model-down.ts';

let chat: ChatServer | undefined;
afterEach(async () => {
  await chat?.stop();
  chat = undefined;
});

describe('an answer as JSON', () => {
  test('a JSON answer has turn, messages, context and usage, without thoughts and signatures', async () => {
    const send = handWrittenSend(() => ({ frames: () => framesOf(finish) }));
    chat = await startChatServer({ collaborators: send });
    const sent = greeting();

    const response = await chat.call(newMessagesPath(), { body: sent });
    const text = await response.text();

    expect(response.status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      turn: { id: 't_1', state: 'done', messageId: sent.message.id, answerId: 'm_1' },
      userMessage: { id: sent.message.id, role: 'user', parts: sent.message.parts },
      message: { id: 'm_1', role: 'model', parts: [{ type: 'text', text: 'Fine.' }] },
      context: someContext,
      usage: { promptTokens: 100, cachedTokens: 0, outputTokens: 10 },
      replayed: false,
    });
    expect(text).not.toMatch(/private thought|signature/);
  });

  test('the JSON answer of a failed turn is its error', async () => {
    const failed = Promise.reject(overloaded(1_200));
    failed.catch(() => undefined);
    const send = handWrittenSend(() => ({ frames: () => framesOf(finish), result: failed }));
    chat = await startChatServer({ collaborators: send });

    const response = await chat.call(newMessagesPath(), { body: greeting() });

    expect(await errorOf(response)).toMatchObject({ http: 503, reason: 'MODEL_OVERLOADED' });
  });

  test('the JSON answer of a defect reveals nothing of it', async () => {
    const sendMessage = () => Promise.reject(new Error('secret reason'));
    chat = await startChatServer({ collaborators: { sendMessage } });

    const error = await errorOf(await chat.call(newMessagesPath(), { body: greeting() }));

    expect(error).toMatchObject({ http: 500, status: 'INTERNAL', reason: 'INTERNAL' });
    expect(error.text).not.toContain('secret reason');
    expect(chat.logs).toMatchObject([{ severity: 'ERROR', fields: { status: 500 } }]);
    expect(JSON.stringify(chat.logs)).not.toContain('secret reason');
  });

  test('the JSON answer of a turn in progress asks clients not to repeat', async () => {
    const busy = new AppError({
      status: 'ABORTED',
      reason: 'TURN_IN_PROGRESS',
      message: 'busy',
      publicMessage: 'Busy.',
      retryAfterMs: 1_001,
    });
    chat = await startChatServer({ collaborators: { sendMessage: () => Promise.reject(busy) } });

    const response = await chat.call(newMessagesPath(), { body: greeting() });

    expect(response.status).toBe(409);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(response.headers.get('retry-after')).toBe('2');
  });
});

test('a message reaches the use case as model parts, with the token’s caller', async () => {
  const send = handWrittenSend(() => ({ frames: () => framesOf(finish) }));
  chat = await startChatServer({ collaborators: send });
  const id = randomUUID().toUpperCase();
  const parts = [
    { type: 'text', text: 'NUL \u0000, jamo \u1112\u1161\u11ab, emoji 👩‍👩‍👧, bidi \u202e' },
    { type: 'file', mediaType: 'image/png', data: 'aGk=' },
    { type: 'file', mediaType: 'application/pdf', url: 'https://files.example/a.pdf' },
  ];

  const response = await chat.call(newMessagesPath(), {
    uid: 'bob',
    body: { message: { id, parts, retention: 'keep' }, locale: 'ko-KR' },
  });

  expect(response.status).toBe(200);
  expect(send.requests).toMatchObject([
    {
      caller: { uid: 'bob', tier: 'signedIn' },
      message: {
        id,
        retention: 'keep',
        parts: [
          { text: parts[0]?.text },
          { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
          { fileData: { mimeType: 'application/pdf', fileUri: 'https://files.example/a.pdf' } },
        ],
      },
      locale: 'ko-KR',
    },
  ]);
});
