import { afterAll, describe, expect, test } from 'vitest';
import { clientOf, errorOfSdk, newText, transcriptOf } from '#test/support/wire/openai.ts';
import { asResource, conversationIdOf, eventsOf, lastResponse, usage } from './responses-server.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer();
afterAll(() => server.stop());

const model = 'recap';

/** A response that is being streamed, with its first word said. */
async function running(text: string) {
  const { client } = await clientOf(server);
  const streaming = client.responses.create({ model, input: text, stream: true });
  const call = await server.callOf(text);
  call.say('One ');
  for await (const event of await streaming)
    if (event.type === 'response.created') return { client, call, id: event.response.id };
  throw new Error('nothing was streamed');
}

/** A response that has ended. */
async function ended(text: string, said = 'One two.') {
  const { client } = await clientOf(server);
  const asked = client.responses.create({ model, input: text });
  await server.answer(text, said);
  return { client, response: await asked };
}

describe('a response after its request', () => {
  test('a response that runs is found as in progress, and its reader may leave', async () => {
    const { client, call, id } = await running(newText());

    const found = await client.responses.retrieve(id);
    const reading = client.responses.stream({ response_id: id }).finalResponse();
    call.say('two.');
    call.end(usage);

    expect(asResource(found)).toMatchObject({ id, status: 'in_progress', output: [] });
    expect((await reading).output_text).toBe('One two.');
  });

  test('a response is cancelled, and keeps what was said', async () => {
    const { client, id } = await running(newText());

    const cancelled = await client.responses.cancel(id);

    expect(asResource(cancelled)).toMatchObject({
      id,
      status: 'cancelled',
      output: [{ content: [{ text: 'One ' }], status: 'incomplete' }],
    });
  });

  test('a response that has ended is not cancelled: 400 that says so', async () => {
    const { client, response } = await ended(newText());

    const error = await errorOfSdk(client.responses.cancel(response.id));

    expect(error).toMatchObject({ status: 400, code: 'TURN_FINISHED' });
  });

  test('`starting_after` gives the events behind a number, each as it was', async () => {
    const text = newText();
    const posting = server.call('/v1/responses', {
      method: 'POST',
      body: { model, input: text, stream: true },
    });
    const call = await server.callOf(text);
    for (const word of ['One ', 'two ', 'three.']) call.say(word);
    call.end(usage);
    const events = await eventsOf(await posting);
    const { id } = lastResponse(events);
    const place = events.findIndex(({ type }) => type === 'response.output_text.delta');
    const after = events[place]?.sequence_number;

    const path = `/v1/responses/${id}?stream=true&starting_after=${after}`;
    const rest = await eventsOf(await server.call(path));

    const told = (each: (typeof events)[number]) => [each.sequence_number, each.type];
    expect(rest.map(told)).toEqual(events.slice(place + 1).map(told));
    expect(lastResponse(rest).output).toEqual(lastResponse(events).output);
  });

  test('a deleted response takes its answer out of the transcript', async () => {
    const { client, response } = await ended(newText());
    const conversationId = conversationIdOf(response);

    await client.responses.delete(response.id);

    const [, answer] = await transcriptOf(server, conversationId);
    expect(answer).toEqual(['model', '']);
    const found = await client.responses.retrieve(response.id);
    expect(found.output_text).toBe('');
  });
});

describe('what a request of the Responses API may ask for', () => {
  const refused: [field: string, body: object][] = [
    ['background', { background: true }],
    ['include', { include: ['message.output_text.logprobs'] }],
    ['reasoning.summary', { reasoning: { summary: 'auto' } }],
    ['parallel_tool_calls', { parallel_tool_calls: false }],
    ['max_tool_calls', { max_tool_calls: 2 }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['store', { store: false }],
    ['max_output', { max_output: 5 }],
    [
      'input',
      {
        input: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Hi' },
          { role: 'user', content: 'Hello' },
        ],
      },
    ],
    [
      'input[0].output',
      {
        conversation: crypto.randomUUID(),
        input: [
          { type: 'function_call_output', call_id: 'x', output: '1' },
          { role: 'user', content: 'Hello' },
        ],
      },
    ],
    ['previous_response_id', { previous_response_id: 'resp_1', conversation: crypto.randomUUID() }],
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['input[0]', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
    ['input', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['input[0].content[0]', { input: [{ role: 'user', content: [{ type: 'input_file' }] }] }],
    ['conversation', { conversation: 'conv_1' }],
    ['context_management', { context_management: [{ type: 'compaction' }] }],
    ['temperature', { temperature: 3 }],
    ['tool_choice.name', { tool_choice: { type: 'function', name: '' } }],
    ['input[0].call_id', { input: [{ type: 'function_call_output', call_id: 'x', output: '1' }] }],
  ];

  test.each(refused)('`%s` is refused by name where it cannot be done', async (field, more) => {
    const response = await server.call('/v1/openai/responses', {
      method: 'POST',
      body: { model, input: 'Hello', ...more },
    });
    const { error } = Object(await response.json());

    expect(response.status).toBeLessThan(500);
    expect(error).toMatchObject({ param: field });
    expect(error.message.length).toBeGreaterThan(20);
  });

  test('`responses.parse` gives an object that fits its schema', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.responses.parse({
      model,
      input: text,
      text: {
        format: {
          type: 'json_schema',
          name: 'place',
          schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
        },
      },
      temperature: 0.2,
      max_output_tokens: 100,
    });
    const { request } = await server.callOf(text);
    await server.answer(text, '{"city":"Oslo"}');

    expect((await asked).output_parsed).toEqual({ city: 'Oslo' });
    expect(request).toMatchObject({ sampling: { temperature: 0.2 }, maxOutputTokens: 100 });
  });

  test('a field that only tunes the style is told as without effect', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.responses.create({ model, input: text, text: { verbosity: 'low' } });
    await server.answer(text, 'Fine.');

    expect(await asked).toMatchObject({ ignored: ['text.verbosity'] });
  });

  test('instructions that the deployment keeps to itself are told as without effect', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.responses.create({ model, input: text, instructions: 'Be a pirate.' });
    const { request } = await server.callOf(text);
    await server.answer(text, 'Fine.');

    expect(await asked).toMatchObject({ ignored: ['instructions'] });
    expect(request.systemInstruction).toBeUndefined();
  });

  test('an answer that the model cut short is incomplete, with the reason', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.responses.create({ model, input: text });
    const call = await server.callOf(text);
    call.say('One');
    call.stop('MAX_TOKENS');

    expect(await asked).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });
});
