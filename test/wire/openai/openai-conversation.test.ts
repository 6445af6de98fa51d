import { randomUUID } from 'node:crypto';
import type OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { ask } from '#docs/clients/recipes/openai-sdk.ts';
import {
  chatCompletionChunk,
  chatCompletionResponse,
  modelListResponse,
} from '#shared/wire/facades/openai.ts';
import { readAs } from '#test/support/chat/http-answers.ts';
import {
  bodyOf,
  clientOf,
  newText,
  transcriptOf,
  usage,
  usageOfOpenAi,
} from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer();
afterAll(() => server.stop());

describe('the SDK of OpenAI, with a conversation', () => {
  test('the OpenAI SDK in a conversation gets an answer with usage and conversation id', async () => {
    const { client } = await clientOf(server);
    const [text, conversationId] = [newText(), randomUUID()];
    const asked = client.chat.completions.create(bodyOf(text, conversationId));
    const call = await server.callOf(text);
    call.say('One two.');
    call.end(usage);

    const completion = await asked;

    expect(chatCompletionResponse.parse(completion)).toMatchObject({
      model: server.dependencies.config.MODEL,
      choices: [{ message: { content: 'One two.' }, finish_reason: 'stop' }],
      usage: usageOfOpenAi,
      recap: { conversationId, turnId: 't_1', generation: 0 },
    });
    expect(await transcriptOf(server, conversationId)).toEqual([
      ['user', text],
      ['model', 'One two.'],
    ]);
  });

  test('the OpenAI SDK streams an answer in chunks, the usage last', async () => {
    const { client } = await clientOf(server);
    const [text, conversationId] = [newText(), randomUUID()];
    const streaming = client.chat.completions.create({
      ...bodyOf(text, conversationId),
      stream: true,
      stream_options: { include_usage: true },
    });
    const call = await server.callOf(text);
    call.say('One ');
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await streaming) {
      if (chunk.choices[0]?.delta.content === 'One ') {
        call.say('two.');
        call.end(usage);
      }
      chunks.push(chunk);
    }

    for (const chunk of chunks) expect(chatCompletionChunk.strict().parse(chunk)).toEqual(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('One two.');
    expect(chunks[0]).toMatchObject({ recap: { conversationId, turnId: 't_1', generation: 0 } });
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: usageOfOpenAi });
  });

  test('the OpenAI SDK accumulates a stream with its `.stream()` helper', async () => {
    const { client } = await clientOf(server);
    const [text, conversationId] = [newText(), randomUUID()];
    const stream = client.chat.completions.stream({
      ...bodyOf(text, conversationId),
      stream_options: { include_usage: true },
    });
    const call = await server.callOf(text);
    call.say('One ');
    call.say('two.');
    call.end(usage);

    expect(await stream.finalContent()).toBe('One two.');
    expect(await stream.totalUsage()).toMatchObject({ completion_tokens: 25 });
  });

  test('the OpenAI SDK’s last message alone counts: the server’s transcript is the history', async () => {
    const { client } = await clientOf(server);
    const [first, second, conversationId] = [newText(), newText(), randomUUID()];
    const one = client.chat.completions.create(bodyOf(first, conversationId));
    await server.answer(first, 'First answer.');
    await one;
    const two = client.chat.completions.create({
      ...bodyOf(second, conversationId),
      messages: [
        { role: 'system', content: 'Speak like a pirate.' },
        { role: 'user', content: 'What I never said.' },
        { role: 'assistant', content: 'What nobody answered.' },
        { role: 'user', content: second },
      ],
    });
    const { request } = await server.callOf(second);
    await server.answer(second, 'Second answer.');
    await two;

    const texts = request.contents.map(({ parts }) => parts.map((part) => part.text).join(''));
    expect(texts).toEqual([first, 'First answer.', second]);
    expect(request.systemInstruction).toBeUndefined();
    expect(await transcriptOf(server, conversationId)).toHaveLength(4);
  });

  test('the OpenAI SDK can name the conversation in a header', async () => {
    const { client } = await clientOf(server);
    const [text, conversationId] = [newText(), randomUUID()];
    const headers = { 'X-Conversation-Id': conversationId };
    const asked = client.chat.completions.create({ ...bodyOf(text), metadata: {} }, { headers });
    await server.answer(text, 'Fine.');

    expect(await asked).toMatchObject({ recap: { conversationId } });
  });

  test('the OpenAI SDK sends pictures as data: URLs', async () => {
    const { client } = await clientOf(server);
    const [text, conversationId] = [newText(), randomUUID()];
    const asked = client.chat.completions.create({
      ...bodyOf(text, conversationId),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
            { type: 'text', text },
          ],
        },
      ],
    });
    const { request } = await server.callOf(text);
    await server.answer(text, 'A picture.');
    await asked;

    expect(request.contents.at(-1)?.parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
      { text },
    ]);
  });
});

test('the OpenAI SDK lists the model that answers', async () => {
  const { client } = await clientOf(server);
  const models = await client.models.list();
  const response = await server.call('/v1/openai/models');

  expect(models.data.map(({ id }) => id)).toEqual([server.dependencies.config.MODEL]);
  await readAs(modelListResponse, response);
});

test('the OpenAI recipe shows the answer as it comes and returns the whole', async () => {
  const { client } = await clientOf(server);
  const text = newText();
  const shown: string[] = [];
  const answer = ask(client, {
    conversationId: randomUUID(),
    messageId: randomUUID(),
    text,
    show: (soFar) => void shown.push(soFar),
  });
  await server.answer(text, 'One two.');

  expect(await answer).toBe('One two.');
  expect(shown.at(-1)).toBe('One two.');
});
