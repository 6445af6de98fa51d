import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { eventually } from '#test/support/eventually.ts';
import { overloaded } from '#test/support/model-down.ts';
import { bodyOf, clientOf, errorOfSdk, newText, transcriptOf } from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer();
afterAll(() => server.stop());

describe('a request that the SDK sends again', () => {
  test.each([
    ['asked for in one piece', false],
    ['streamed', true],
  ])('an OpenAI request repeated after 503 twice becomes one turn, %s', async (_, stream) => {
    const { client, posts } = await clientOf(server);
    const [text, conversationId] = [newText(), randomUUID()];
    const asked = client.chat.completions.create({ ...bodyOf(text, conversationId), stream });
    (await server.callOf(text, 0)).fail(overloaded());
    (await server.callOf(text, 1)).fail(overloaded());
    await server.answer(text, 'Fine.', 2);
    const answer = await asked;
    if (Symbol.asyncIterator in answer) for await (const chunk of answer) void chunk;

    expect(posts).toHaveLength(3);
    expect(server.callsOf(text)).toHaveLength(3);
    expect(await transcriptOf(server, conversationId)).toEqual([
      ['user', text],
      ['model', 'Fine.'],
    ]);
  });

  test('an OpenAI request is sent once when another message is being answered', async () => {
    const { client, posts } = await clientOf(server);
    const other = await clientOf(server);
    const [text, conversationId] = [newText(), randomUUID()];
    const running = other.client.chat.completions.create(bodyOf(text, conversationId));
    await server.callOf(text);

    const error = await errorOfSdk(
      client.chat.completions.create(bodyOf(newText(), conversationId)),
    );

    expect(error).toBeInstanceOf(OpenAI.ConflictError);
    expect(error.code).toBe('TURN_IN_PROGRESS');
    expect(posts).toHaveLength(1);
    await server.answer(text, 'Fine.');
    await running;
  });

  test('an OpenAI request attaches to its own answer after a lost connection', async () => {
    const [text, conversationId] = [newText(), randomUUID()];
    const { client, posts } = await clientOf(server, {
      send: async (input, init) => {
        if (posts.length > 1) return fetch(input, init);
        void fetch(input, init).catch(() => undefined);
        await server.callOf(text);
        throw new TypeError('the connection was lost');
      },
    });
    const asked = client.chat.completions.create(bodyOf(text, conversationId));
    await eventually('the second try', () => Promise.resolve(posts.length > 1 || undefined));
    await server.answer(text, 'Fine.');

    expect((await asked).choices[0]?.message.content).toBe('Fine.');
    expect(server.callsOf(text)).toHaveLength(1);
    expect(await transcriptOf(server, conversationId)).toHaveLength(2);
  });

  test('an OpenAI request gets the stored answer that never arrived', async () => {
    const [text, conversationId] = [newText(), randomUUID()];
    const { client, posts } = await clientOf(server, {
      send: async (input, init) => {
        const response = fetch(input, init);
        if (posts.length > 1) return response;
        await server.answer(text, 'Fine.');
        await (await response).text();
        throw new TypeError('the connection was lost');
      },
    });

    const completion = await client.chat.completions.create(bodyOf(text, conversationId));

    expect(completion.choices[0]?.message.content).toBe('Fine.');
    expect(await transcriptOf(server, conversationId)).toHaveLength(2);
  });

  test('an OpenAI request is found behind a message queued after it', async () => {
    const [text, later, conversationId] = [newText(), newText(), randomUUID()];
    const path = `/v1/conversations/${conversationId}/messages`;
    const message = { id: randomUUID(), parts: [{ type: 'text', text: later }] };
    let queued: Promise<Response> | undefined;
    const { client, posts } = await clientOf(server, {
      send: async (input, init) => {
        if (posts.length > 1) return fetch(input, init);
        void fetch(input, init).catch(() => undefined);
        await server.callOf(text);
        queued = server.call(path, { body: { message, onBusy: 'queue' } });
        await eventually('the queued message', async () =>
          JSON.stringify(await transcriptOf(server, conversationId)).includes(later)
            ? true
            : undefined,
        );
        throw new TypeError('the connection was lost');
      },
    });
    const asked = client.chat.completions.create(bodyOf(text, conversationId));
    await eventually('the second try', () => Promise.resolve(posts.length > 1 || undefined));
    await server.answer(text, 'Fine.');
    const completion = await asked;
    await server.answer(later, 'Later.');
    await queued;

    expect(completion.choices[0]?.message.content).toBe('Fine.');
    expect(server.callsOf(text)).toHaveLength(1);
  });

  test('a lost answer is given again in a window that says the same as the one before', async () => {
    const conversationId = randomUUID();
    const text = newText();
    let lost = 0;
    const { client } = await clientOf(server, {
      send: async (input, init) => {
        const response = await fetch(input, init);
        if ((lost -= 1) !== 0) return response;
        await response.text();
        throw new TypeError('the connection was lost');
      },
    });
    const body = {
      ...bodyOf(text, conversationId),
      messages: [
        { role: 'assistant' as const, content: 'Done.' },
        { role: 'user' as const, content: text },
      ],
    };
    for (const n of [0, 1]) {
      if (n === 1) lost = 1;
      const asked = client.chat.completions.create(body);
      await server.answer(text, 'Done.', n);
      expect((await asked).choices[0]?.message.content).toBe('Done.');
    }

    expect(server.callsOf(text)).toHaveLength(2);
    expect(await transcriptOf(server, conversationId)).toHaveLength(4);
  });
});
