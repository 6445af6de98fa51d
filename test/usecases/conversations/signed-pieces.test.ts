import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { startChatServer } from '#test/support/chat/chat-server.ts';

const pieces = [
  { text: 'Your locker code is QX-' },
  { text: '77', thoughtSignature: 'c2lnbmF0dXJl' },
  { text: '19. Keep it safe.' },
];
const whole = 'Your locker code is QX-7719. Keep it safe.';

const { model, requests } = scriptedStreamer(
  { chunks: [...pieces.map((part) => ({ parts: [part] })), { parts: [], finishReason: 'STOP' }] },
  textAnswer('Yes.'),
);
const chat = await startChatServer({ overrides: { model } });
afterAll(() => chat.stop());

test('an answer in signed pieces is one text everywhere, and goes back to the model in its pieces', async () => {
  const path = `/v1/conversations/${randomUUID()}`;
  const say = (text: string) =>
    chat.call(`${path}/messages`, {
      body: { message: { id: randomUUID(), parts: [{ type: 'text', text }] } },
    });
  await say('Which code?');
  await say('Sure?');

  const transcript = await (await chat.call(`${path}/messages`)).json();
  const found = await (await chat.call(`${path}:search?q=QX-7719`)).json();
  const markdown = await (await chat.call(`${path}:export?format=markdown`)).text();

  expect(transcript).toMatchObject({
    messages: [{}, { parts: [{ type: 'text', text: whole }] }, {}, {}],
  });
  expect(found).toMatchObject({ hits: [{ role: 'model', snippet: whole }] });
  expect(markdown).toContain(`\n\n${whole}\n\n`);
  expect(requests[1]?.contents[1]).toEqual({ role: 'model', parts: pieces });
});
