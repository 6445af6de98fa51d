import type OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { toDay } from '#shared/quota/usage.ts';
import { chatCompletionResponse } from '#shared/wire/facades/openai.ts';
import { choosyModel, refusedWith } from '#test/fakes/choosy-model.ts';
import { scriptedStreamer, textAnswer } from '#test/fakes/scripted-streamer.ts';
import { eventually } from '#test/support/eventually.ts';
import { startLimitedServer, usageOf } from '#test/support/chat/quotas.ts';
import { bodyOf, clientOf, errorOfSdk, newText, usage } from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer();
afterAll(() => server.stop());

const deadPicture: OpenAI.ChatCompletionUserMessageParam = {
  role: 'user',
  content: [{ type: 'image_url', image_url: { url: 'https://dead.example/a.png' } }],
};

describe('the SDK of OpenAI, without a conversation', () => {
  test('the OpenAI SDK without a conversation gets an answer, and nothing is stored', async () => {
    const { client } = await clientOf(server, { uid: 'bob' });
    const text = newText();
    const asked = client.chat.completions.create({
      ...bodyOf(text),
      max_completion_tokens: 50,
      temperature: 0.2,
      messages: [
        { role: 'system', content: 'Speak like a pirate.' },
        { role: 'user', content: 'Hi.' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'I have a question.' },
        { role: 'user', content: text },
      ],
    });
    const { request } = await eventually('the call', () =>
      Promise.resolve(server.callsOf(`I have a question.${text}`)[0]),
    );
    await server.answer(`I have a question.${text}`, 'Fine.');
    const completion = await asked;

    expect(request).toMatchObject({
      maxOutputTokens: 50,
      contents: [
        { role: 'user', parts: [{ text: 'Hi.' }] },
        { role: 'model', parts: [{ text: 'Hello.' }] },
        { role: 'user', parts: [{ text: 'I have a question.' }, { text }] },
      ],
    });
    expect(request.systemInstruction).toBeUndefined();
    expect(chatCompletionResponse.parse(completion)).toMatchObject({
      choices: [{ message: { content: 'Fine.' } }],
    });
    expect(completion).not.toHaveProperty('recap');
    const list = await server.call('/v1/conversations', { uid: 'bob' });
    expect(await list.json()).toMatchObject({ conversations: [] });
  });

  test('the OpenAI SDK without a conversation streams', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const stream = client.chat.completions.stream(bodyOf(text));
    await server.answer(text, 'One two.');

    expect(await stream.finalContent()).toBe('One two.');
  });

  test.each([
    { given: ['c2', 'c1'], called: ['c1', 'c2'] },
    { given: ['c2'], called: ['c2'] },
  ])(
    'results of equal functions that come as $given go to the calls that they name',
    async ({ given, called }) => {
      const { model, requests } = scriptedStreamer(textAnswer('Fine.', usage));
      const own = await startWireServer({ overrides: { model } });
      const { client } = await clientOf(own);
      await client.chat.completions.create({
        model: 'recap',
        messages: [
          { role: 'user', content: 'How warm is it?' },
          {
            role: 'assistant',
            tool_calls: ['c1', 'c2'].map((id) => ({
              id,
              type: 'function' as const,
              function: { name: 'weather', arguments: `{"city":"${id}"}` },
            })),
          },
          ...given.map((id) => ({ role: 'tool' as const, tool_call_id: id, content: `In ${id}` })),
        ],
      });
      await own.stop();

      expect(requests[0]?.contents.slice(1).map(({ parts }) => parts)).toMatchObject([
        called.map((id) => ({ functionCall: { id, name: 'weather', args: { city: id } } })),
        called.map((id) => ({
          functionResponse: { id, name: 'weather', response: { output: `In ${id}` } },
        })),
      ]);
    },
  );

  test.each<{ what: string; between: OpenAI.ChatCompletionMessageParam[] }>([
    { what: 'was answered', between: [{ role: 'assistant', content: 'A dog.' }] },
    { what: 'failed', between: [] },
  ])('a picture that cannot be read is left out behind a message that $what', async (row) => {
    const { model, state } = choosyModel();
    state.refuse = (_, text) => (text.includes('dead.example') ? refusedWith(400) : undefined);
    const own = await startWireServer({ overrides: { model } });
    const { client } = await clientOf(own);
    const completion = await client.chat.completions.create(
      {
        model: 'recap',
        messages: [deadPicture, ...row.between, { role: 'user', content: 'Hello' }],
      },
      { maxRetries: 0 },
    );
    await own.stop();

    expect(completion.choices[0]?.message.content).toBe('Fine.');
  });

  test('the error of a message whose picture cannot be read names the address', async () => {
    const { model, state } = choosyModel();
    state.refuse = () => refusedWith(400);
    const own = await startWireServer({ overrides: { model } });
    const { client } = await clientOf(own);
    const ask = client.chat.completions.create(
      { model: 'recap', messages: [deadPicture] },
      { maxRetries: 0 },
    );
    const error = await errorOfSdk(ask);
    await own.stop();

    expect(error).toMatchObject({ code: 'MODEL_REFUSED_REQUEST' });
    expect(error.message).toContain('https://dead.example/a.png');
  });

  test('the OpenAI SDK without a conversation stops the model when it leaves', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const streaming = client.chat.completions.create({ ...bodyOf(text), stream: true });
    const call = await server.callOf(text);
    call.say('One ');
    const stream = await streaming;
    stream.controller.abort();

    const isStopped = await eventually('the end of the call', () =>
      Promise.resolve(call.signal.aborted || undefined),
    );
    expect(isStopped).toBe(true);
  });

  test('the OpenAI SDK without a conversation counts in the message quota, bursts included', async () => {
    const { model } = scriptedStreamer(textAnswer('Fine.', usage));
    const own = await startLimitedServer({ USER_DAILY_MESSAGES: '3' }, { model });
    const send = (stream: boolean) =>
      own.call('/v1/openai/chat/completions', { body: { ...bodyOf(newText()), stream } });
    const responses = await Promise.all(Array.from({ length: 8 }, (_, i) => send(i % 2 === 0)));
    const texts = await Promise.all(responses.map((response) => response.text()));
    const day = toDay(own.dependencies.clock.now());
    const used = await usageOf(own.dependencies.store, { uid: 'alice', day });
    await own.stop();

    expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(texts.filter((text) => text.includes('insufficient_quota'))).toHaveLength(5);
    expect(used).toMatchObject({ messages: 3, tokens: 3 * 225 });
  });

  test('the OpenAI SDK without a conversation logs no message text', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.chat.completions.create(bodyOf(text));
    await server.answer(text, 'A secret answer.');
    await asked;

    const logged = JSON.stringify(server.logs);
    expect(logged).not.toContain(text);
    expect(logged).not.toContain('secret');
  });

  test('the OpenAI SDK’s system message is used where the deployment lets clients set it', async () => {
    const own = await startWireServer({ environment: { CLIENT_WRITABLE: 'systemInstruction' } });
    const text = newText();
    const asked = own.call('/v1/openai/chat/completions', {
      body: {
        ...bodyOf(text),
        messages: [
          { role: 'developer', content: [{ type: 'text', text: 'Speak like a pirate.' }] },
          { role: 'user', content: text },
        ],
      },
    });
    const { request } = await own.callOf(text);
    await own.answer(text, 'Arr.');
    await asked;
    await own.stop();

    expect(request.systemInstruction).toBe('Speak like a pirate.');
  });
});
