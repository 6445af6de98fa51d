import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { clientOf, errorOfSdk, newText, transcriptOf } from '#test/support/wire/openai.ts';
import {
  asResource,
  conversationIdOf,
  eventsOf,
  lastResponse,
  usage,
  usageOfResponses,
} from './responses-server.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer();
afterAll(() => server.stop());

const model = 'gpt-5';

describe('the Responses API in a conversation', () => {
  test('a text as input of the Responses API begins a conversation of its own', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.responses.create({ model, input: text });
    const call = await server.callOf(text);
    call.say('One two.');
    call.end(usage);

    const response = await asked;

    expect(asResource(response)).toMatchObject({
      status: 'completed',
      model: server.dependencies.config.MODEL,
      store: true,
      usage: usageOfResponses,
      recap: { turnId: 't_1', context: { generation: 0 } },
    });
    expect(response.output_text).toBe('One two.');
    expect(await transcriptOf(server, conversationIdOf(response))).toEqual([
      ['user', text],
      ['model', 'One two.'],
    ]);
  });

  test('the Responses API streams its events in the order of the protocol', async () => {
    const text = newText();
    const posting = server.call('/v1/openai/responses', {
      method: 'POST',
      body: { model, input: text, stream: true },
    });
    const call = await server.callOf(text);
    call.say('One ');
    call.say('two.');
    call.end(usage);

    const events = await eventsOf(await posting);

    const types = events.map(({ type }) => type);
    expect(types.filter((type) => type !== 'response.output_text.delta')).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    const numbers = events.map(({ sequence_number: number }) => number);
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
    expect(lastResponse(events).output).toMatchObject([
      { type: 'message', content: [{ text: 'One two.' }] },
    ]);
  });

  test('the `.stream()` helper of OpenAI accumulates a response', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const stream = client.responses.stream({ model, input: text });
    const call = await server.callOf(text);
    call.say('One ');
    call.say('two.');
    call.end(usage);

    const response = await stream.finalResponse();

    expect(response.output_text).toBe('One two.');
    expect(response.usage).toEqual(usageOfResponses);
  });

  test('`previous_response_id` goes on in the conversation of that response', async () => {
    const { client } = await clientOf(server);
    const [first, second] = [newText(), newText()];
    const one = client.responses.create({ model, input: first });
    await server.answer(first, 'First answer.');
    const { id, ...before } = await one;
    const two = client.responses.create({ model, input: second, previous_response_id: id });
    const { request } = await server.callOf(second);
    await server.answer(second, 'Second answer.');

    const after = await two;

    expect(request.contents).toHaveLength(3);
    expect(after.previous_response_id).toBe(id);
    expect(after.conversation).toEqual(before.conversation);
  });

  test('`previous_response_id` of an earlier response goes on in a fork that ends there', async () => {
    const { client } = await clientOf(server);
    const [first, second, other] = [newText(), newText(), newText()];
    const one = client.responses.create({ model, input: first });
    await server.answer(first, 'First.');
    const { id } = await one;
    const two = client.responses.create({ model, input: second, previous_response_id: id });
    await server.answer(second, 'Second.');
    const straight = await two;
    const three = client.responses.create({ model, input: other, previous_response_id: id });
    await server.answer(other, 'Other.');
    const forked = await three;
    const again = await client.responses.create({ model, input: other, previous_response_id: id });

    expect(forked.conversation).not.toEqual(straight.conversation);
    expect(await transcriptOf(server, conversationIdOf(forked))).toEqual([
      ['user', first],
      ['model', 'First.'],
      ['user', other],
      ['model', 'Other.'],
    ]);
    expect(await transcriptOf(server, conversationIdOf(straight))).toHaveLength(4);
    expect(again.id).toBe(forked.id);
  });

  test('`conversation` names a conversation, as its id or as an object', async () => {
    const { client } = await clientOf(server);
    const [first, second, conversation] = [newText(), newText(), randomUUID()];
    const one = client.responses.create({ model, input: first, conversation });
    await server.answer(first, 'First.');
    await one;
    const two = client.responses.create({
      model,
      input: [{ role: 'user', content: second }],
      conversation: { id: conversation },
    });
    await server.answer(second, 'Second.');

    expect((await two).conversation).toEqual({ id: conversation });
    expect(await transcriptOf(server, conversation)).toHaveLength(4);
  });

  test('a response of a conversation in capitals goes on in the same one', async () => {
    const { client } = await clientOf(server);
    const [first, second, conversation] = [newText(), newText(), randomUUID()];
    const one = client.responses.create({
      model,
      input: first,
      conversation: conversation.toUpperCase(),
    });
    await server.answer(first, 'First.');
    const { id } = await one;
    const two = client.responses.create({
      model,
      input: second,
      previous_response_id: id,
    });
    await server.answer(second, 'Second.');

    expect(await two).toMatchObject({ conversation: { id: conversation } });
  });

  test('a response is found by its id, as it was told', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.responses.create({ model, input: text });
    await server.answer(text, 'Fine.');
    const created = await asked;

    const found = await client.responses.retrieve(created.id);
    const items = await client.responses.inputItems.list(created.id);

    expect(asResource(found)).toMatchObject({
      id: created.id,
      status: 'completed',
      output: created.output,
      usage: created.usage,
    });
    expect(items.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    ]);
  });

  test('a response is another user’s: the same 404 as for an unknown one', async () => {
    const { client } = await clientOf(server);
    const { client: bob } = await clientOf(server, { uid: 'bob' });
    const text = newText();
    const asked = client.responses.create({ model, input: text });
    await server.answer(text, 'Fine.');
    const { id } = await asked;

    const foreign = await errorOfSdk(bob.responses.retrieve(id));
    const unknown = await errorOfSdk(bob.responses.retrieve(`resp_${randomUUID()}_t_1`));

    expect(foreign.status).toBe(404);
    expect(foreign.message).toBe(unknown.message);
  });

  test('a retry of the SDK without a key is the same response, the same words again another one', async () => {
    const text = newText();
    const post = (retries: string) =>
      server.call('/v1/responses', {
        method: 'POST',
        body: { model, input: text },
        headers: { 'x-stainless-retry-count': retries },
      });
    const first = post('0');
    await server.answer(text, 'One.');
    const one = asResource(await (await first).json());
    const again = asResource(await (await post('1')).json());
    const second = post('0');
    await server.answer(text, 'Two.', 1);
    const two = asResource(await (await second).json());

    expect(again).toMatchObject({ id: one.id, output: one.output });
    expect(two.conversation).not.toEqual(one.conversation);
    expect(server.callsOf(text)).toHaveLength(2);
  });

  test.each<[string, (conversationId: string) => Promise<unknown>]>([
    [
      'went on',
      async (conversation) => {
        const text = newText();
        const asked = server.call('/v1/responses', { body: { model, input: text, conversation } });
        await server.answer(text, 'Indeed.');
        await asked;
      },
    ],
    [
      'was deleted',
      (conversationId) => server.call(`/v1/conversations/${conversationId}`, { method: 'DELETE' }),
    ],
  ])(
    'a retry whose first try never came begins anew where an earlier equal request %s',
    async (_, end) => {
      const text = newText();
      const post = (retries: string) =>
        server.call('/v1/responses', {
          body: { model, input: text },
          headers: { 'x-stainless-retry-count': retries },
        });
      const first = post('0');
      await server.answer(text, 'One.');
      const one = asResource(await (await first).json());
      await end(one.conversation?.id ?? '');

      const retried = post('1');
      await server.answer(text, 'Two.', 1);
      const two = asResource(await (await retried).json());
      const again = asResource(await (await post('2')).json());

      expect(two.conversation).not.toEqual(one.conversation);
      expect(again.id).toBe(two.id);
    },
  );

  test.each([
    ['with one key', { 'idempotency-key': randomUUID() }, 1],
    ['without a key', {}, 6],
    ['of an SDK that counts its retries', { 'x-stainless-retry-count': '0' }, 6],
  ])('six equal first requests at once, %s', async (_, headers, conversations) => {
    const text = newText();
    const posts = Array.from({ length: 6 }, () =>
      server.call('/v1/responses', { method: 'POST', body: { model, input: text }, headers }),
    );
    for (let n = 0; n < conversations; n++) await server.answer(text, 'Fine.', n);
    const responses = await Promise.all(
      posts.map(async (post) => asResource(await (await post).json())),
    );

    const ids = new Set(responses.map(({ conversation }) => conversation?.id));
    expect(ids.size).toBe(conversations);
    expect(server.callsOf(text)).toHaveLength(conversations);
  });
});
