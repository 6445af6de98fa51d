import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import { updateConversation } from '#functions/chat/conversations/update-conversation.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { scriptedStreamer } from '#test/fakes/scripted-streamer.ts';
import { createShiftedClock } from '#test/fakes/shifted-clock.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
import { fork } from '#test/support/chat/forks.ts';
import { edit } from '#test/support/chat/replacing.ts';
import { request } from '#test/support/chat/sending.ts';
import { compactOnce, manualNeed } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;

/** Some 5,000 tokens. */
const LONG_INSTRUCTION = 'Answer in one sentence, and name the source. '.repeat(500);

async function connected() {
  const server = await startFakeGemini();
  onTestFinished(() => server.close());
  return createGeminiModel({
    apiKey: 'no-key',
    baseUrl: server.url,
    firstEventTimeoutMs: 5_000,
    eventIdleTimeoutMs: 5_000,
    requestTimeoutMs: 5_000,
  });
}

/** A chat over HTTP with a model that caches as Gemini does, and two answered messages. */
async function cachingChat(environment: Record<string, string> = {}) {
  const misses: unknown[] = [];
  const clock = createShiftedClock();
  const chat = chatDependencies(
    {
      model: await connected(),
      clock,
      logger: {
        log: (_, event, { cacheMiss }) =>
          void (event === 'turn_finished' && misses.push(cacheMiss)),
      },
    },
    {
      SYSTEM_INSTRUCTION: LONG_INSTRUCTION,
      CLIENT_WRITABLE: 'systemInstruction,model',
      ...environment,
    },
  );
  const id = randomUUID();
  const say = async (sent: SendRequest) => {
    await (
      await sendMessage(chat, sent)
    ).result;
    return misses.at(-1);
  };
  const second = request(id, 'My dog is called Pixel.');
  await say(request(id, 'Hello.'));
  await say(second);
  return { chat, clock, id, misses, second, ask: (text: string) => say(request(id, text)), say };
}

test('the first prompt of a conversation is a miss, and the next one is served', async () => {
  const { misses } = await cachingChat();

  expect(misses).toEqual(['FIRST_TURN', undefined]);
});

test('a prompt that is shorter than a cache takes is a miss for that', async () => {
  const { ask } = await cachingChat({ SYSTEM_INSTRUCTION: 'Be brief.' });

  expect(await ask('What is he called?')).toBe('TOO_SHORT');
});

test('a prompt after another system instruction is a miss for that, once', async () => {
  const { chat, id, ask } = await cachingChat();
  const patch = { systemInstruction: `${LONG_INSTRUCTION} Be kind.` };
  await updateConversation(chat, { caller, conversationId: id, patch });

  expect(await ask('What is he called?')).toBe('INSTRUCTION');
  expect(await ask('Are you sure?')).toBeUndefined();
});

test('a prompt after another pin is a miss for that', async () => {
  const { chat, id, ask } = await cachingChat();
  await setConversation(chat, id, { pins: [{ id: 'p', text: 'He is two.', source: 'api' }] });

  expect(await ask('What is he called?')).toBe('PINS');
});

test('a prompt for another model is a miss for that', async () => {
  const { chat, id, ask } = await cachingChat();
  const patch = { model: 'gemini-3.1-flash-lite' };
  await updateConversation(chat, { caller, conversationId: id, patch });

  expect(await ask('What is he called?')).toBe('MODEL');
});

test('a prompt after a swap is a miss for that, once', async () => {
  const { chat, id, ask } = await cachingChat();
  for (let i = 0; i < 4; i++)
    await ask(`Tell me of place ${i}: ${'it lies by the river. '.repeat(80)}`);
  await setConversation(chat, id, { compactionNeeded: { ...manualNeed() } });
  const compaction = await compactOnce(compactionBench({ store: chat.store }), id);

  expect(compaction).toMatchObject({ state: 'COMPACTED' });
  expect(await ask('What is he called?')).toBe('COMPACTION');
  expect(await ask('Are you sure?')).toBeUndefined();
});

test('an edit is served like any other prompt, and a miss for that where it is not', async () => {
  const { chat, id, second, say } = await cachingChat();
  const again = edit(id, second.message.id, 'My dog is called Byte.');

  expect(await say(again)).toBeUndefined();
  chat.model = await connected();
  expect(await say(edit(id, again.message.id, 'My dog is called Bit.'))).toBe('EDIT');
});

test('a prompt that a cold cache meets is a miss for the time since the last one, or for nothing known', async () => {
  const { chat, clock, ask } = await cachingChat();
  chat.model = await connected();
  expect(await ask('What is he called?')).toBe('UNEXPLAINED');

  chat.model = await connected();
  clock.shift(6 * 60_000);
  expect(await ask('Are you sure?')).toBe('IDLE');
});

test('the first prompt of a fork is its first, and is served like any other', async () => {
  const { chat, second, id, say } = await cachingChat();
  const ask = async (text: string) => {
    const { conversationId } = await fork({ chat }, id, second.message.id);
    return say(request(conversationId, text));
  };
  expect(await ask('What is he called?')).toBeUndefined();

  chat.model = await connected();
  expect(await ask('What is he called?')).toBe('FIRST_TURN');
});

test('the first prompt behind turns that have all failed is the first', async () => {
  const { chat, say } = await cachingChat();
  const id = randomUUID();
  chat.model = scriptedStreamer({ error: new Error('no answer') }).model;
  const failed = await sendMessage(chat, request(id, 'Hello.'));
  await expect(failed.result).rejects.toThrow('INTERNAL');
  chat.model = await connected();

  expect(await say(request(id, 'Hello again.'))).toBe('FIRST_TURN');
});
