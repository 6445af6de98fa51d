import { afterAll, expect, test } from 'vitest';
import { chatCompletionResponse } from '#shared/wire/facades/openai.ts';
import { readAs } from '#test/support/chat/http-answers.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { clientOf, errorOfSdk, usage } from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const { model, requests } = scriptedStreamer(textAnswer('Fine.', usage));
const server = await startWireServer({ overrides: { model } });
afterAll(() => server.stop());

const dialogue = [
  { role: 'user' as const, content: 'Hi.' },
  { role: 'assistant' as const, content: 'Hello.' },
  { role: 'user' as const, content: 'I have a question.' },
];

test.each([{ stream: false }, { stream: true }])(
  'a chat completion that names no conversation is refused by name before the model is called, with what to send: %o',
  async ({ stream }) => {
    const { client, posts } = await clientOf(server);
    const asked = client.chat.completions.create({ model: 'recap', messages: dialogue, stream });

    const error = await errorOfSdk(asked);

    expect(error).toMatchObject({
      status: 400,
      code: 'BAD_FIELD',
      param: 'metadata.conversation_id',
    });
    expect(error.message).toContain('`X-Conversation-Id`');
    expect(posts).toHaveLength(1);
    expect(requests).toEqual([]);
    const list = await server.call('/v1/conversations');
    expect(await list.json()).toMatchObject({ conversations: [] });
  },
);

test('a client that can set a header alone keeps its dialogue in one conversation', async () => {
  const conversationId = crypto.randomUUID();
  const send = async (content: string) =>
    readAs(
      chatCompletionResponse,
      await server.call('/v1/openai/chat/completions', {
        body: { model: 'recap', messages: [{ role: 'user', content }] },
        headers: { 'X-Conversation-Id': conversationId },
      }),
    );

  await send('One');
  const second = await send('Two');

  expect(second.recap).toMatchObject({ conversationId, turnId: 't_2' });
});
