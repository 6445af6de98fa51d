import type OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { ANSWER, EXAMPLE, groundedAnswer, UEFA } from '#test/support/tools/grounded.ts';
import { clientOf, errorOfSdk, newText, transcriptOf, usage } from '#test/support/wire/openai.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import {
  asResource,
  conversationIdOf,
  eventsIn,
  lastResponse,
  usageOfResponses,
} from './responses-server.ts';

const server = await startWireServer({ environment: { GROUNDING: 'search' } });
afterAll(() => server.stop());
const { client } = await clientOf(server);

const model = 'gpt-5';

type Fields = Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming>;

/** A response to a new text that the model answers so. */
async function respond(said: string, fields: Fields = {}) {
  const text = newText();
  const asked = client.responses.create({ model, input: text, ...fields });
  const call = await server.callOf(text);
  call.say(said);
  call.end(usage);
  return { text, call, response: await asked };
}

/** A request as it is sent, with the headers of an SDK. */
const post = (body: object, headers: Record<string, string> = {}) =>
  server.call('/v1/responses', { body: { model, ...body }, headers });

const resourceIn = async (response: Response | Promise<Response>) =>
  asResource(await (await response).json());

describe('the Responses API in a conversation', () => {
  test('a text as input of the Responses API begins a conversation of its own, and is found by its id', async () => {
    const { text, response } = await respond('One two.');

    const found = await client.responses.retrieve(response.id);
    const items = await client.responses.inputItems.list(response.id);

    const resource = asResource(response);
    expect(resource).toMatchObject({
      status: 'completed',
      model: server.dependencies.config.MODEL,
      store: true,
      usage: usageOfResponses,
      recap: { turnId: 't_1', context: { generation: 0, compaction: null } },
    });
    expect(resource.recap?.context?.tokens).toBeGreaterThan(0);
    expect(response.output_text).toBe('One two.');
    const { id, output, usage: used } = response;
    expect(asResource(found)).toMatchObject({ id, status: 'completed', output, usage: used });
    expect(items.data).toMatchObject([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    ]);
    expect(await transcriptOf(server, conversationIdOf(response))).toEqual([
      ['user', text],
      ['model', 'One two.'],
    ]);
  });

  test('`previous_response_id` goes on there, and in a fork where the conversation has gone on', async () => {
    const first = await respond('First.');
    const previous_response_id = first.response.id;
    const straight = await respond('Second.', { previous_response_id });
    const forked = await respond('Other.', { previous_response_id });

    const input = forked.text;
    const again = await client.responses.create({ model, input, previous_response_id });

    expect(straight.call.request.contents).toHaveLength(3);
    expect(straight.response.previous_response_id).toBe(previous_response_id);
    expect(straight.response.conversation).toEqual(first.response.conversation);
    expect(forked.response.conversation).not.toEqual(first.response.conversation);
    expect(await transcriptOf(server, conversationIdOf(forked.response))).toEqual([
      ['user', first.text],
      ['model', 'First.'],
      ['user', forked.text],
      ['model', 'Other.'],
    ]);
    expect(await transcriptOf(server, conversationIdOf(straight.response))).toHaveLength(4);
    expect(again.id).toBe(forked.response.id);
  });

  test('a response has its sources as annotations, streamed too', async () => {
    const annotations = [
      [UEFA, 'uefa.com', 'España won Euro 2024.'],
      [EXAMPLE, 'example.org', 'The final was in Berlin.'],
    ].map(([url, title, says = '']) => {
      const start_index = ANSWER.indexOf(says);
      return {
        type: 'url_citation',
        url,
        title,
        start_index,
        end_index: start_index + says.length,
      };
    });
    const text = newText();
    const stream = client.responses.stream({ model, input: text });
    await groundedAnswer(server, text);

    const streamed = await stream.finalResponse();
    const found = await client.responses.retrieve(streamed.id);

    for (const { output } of [streamed, found])
      expect(output).toMatchObject([{ content: [{ text: ANSWER, annotations }] }]);
  });
});

describe('the same request again', () => {
  test('a retry of the SDK without a key is the same response, the same words again another one', async () => {
    const input = newText();
    const post0 = post({ input }, { 'x-stainless-retry-count': '0' });
    await server.answer(input, 'One.');
    const one = await resourceIn(post0);
    const again = await resourceIn(post({ input }, { 'x-stainless-retry-count': '1' }));
    const second = post({ input }, { 'x-stainless-retry-count': '0' });
    await server.answer(input, 'Two.', 1);
    const two = await resourceIn(second);

    expect(again).toMatchObject({ id: one.id, output: one.output });
    expect(two.conversation).not.toEqual(one.conversation);
    expect(server.callsOf(input)).toHaveLength(2);
  });

  test.each<[string, (conversation: string) => Promise<unknown>]>([
    ['went on', (conversation) => respond('Indeed.', { conversation })],
    ['was deleted', (id) => server.call(`/v1/conversations/${id}`, { method: 'DELETE' })],
  ])(
    'a retry whose first try never came begins anew where an earlier equal request %s',
    async (_, end) => {
      const { text: input, response: one } = await respond('One.');
      await end(conversationIdOf(one));

      const retried = post({ input }, { 'x-stainless-retry-count': '1' });
      await server.answer(input, 'Two.', 1);
      const two = await resourceIn(retried);
      const again = await resourceIn(post({ input }, { 'x-stainless-retry-count': '2' }));

      expect(two.conversation).not.toEqual(one.conversation);
      expect(again.id).toBe(two.id);
    },
  );
});

describe('a response that does not come at once', () => {
  test('a response that fails after its first word ends as `response.failed`', async () => {
    const input = newText();
    const posting = post({ input, stream: true });
    const call = await server.callOf(input);
    call.say('One ');
    const response = await posting;
    call.fail(new Error('the model is gone'));

    const ended = lastResponse(eventsIn(await response.text()));

    expect(ended).toMatchObject({ status: 'failed', error: { message: expect.any(String) } });
    const found = await resourceIn(server.call(`/v1/responses/${ended.id}`));
    expect(found).toMatchObject({ status: 'failed' });
  });

  test('an answer that the model cut short is incomplete, with the reason', async () => {
    const input = newText();
    const asked = client.responses.create({ model, input });
    const call = await server.callOf(input);
    call.say('One');
    call.stop('MAX_TOKENS');

    expect(await asked).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });
});

/** A response that is being streamed, with its first word said. */
async function running() {
  const text = newText();
  const streaming = client.responses.create({ model, input: text, stream: true });
  const call = await server.callOf(text);
  call.say('One ');
  for await (const event of await streaming)
    if (event.type === 'response.created') return { call, id: event.response.id };
  throw new Error('nothing was streamed');
}

describe('a response after its request', () => {
  test('a response that runs is found as in progress, and its reader may leave', async () => {
    const { call, id } = await running();

    const found = await client.responses.retrieve(id);
    const reading = client.responses.stream({ response_id: id }).finalResponse();
    call.say('two.');
    call.end(usage);

    expect(asResource(found)).toMatchObject({ id, status: 'in_progress', output: [] });
    expect(await reading).toMatchObject({ output_text: 'One two.', usage: usageOfResponses });
  });

  test('a response is cancelled and keeps what was said; one that has ended is not', async () => {
    const { id } = await running();
    const { response: ended } = await respond('One two.');

    const cancelled = await client.responses.cancel(id);
    const error = await errorOfSdk(client.responses.cancel(ended.id));

    expect(asResource(cancelled)).toMatchObject({
      id,
      status: 'cancelled',
      output: [{ content: [{ text: 'One ' }], status: 'incomplete' }],
    });
    expect(error).toMatchObject({ status: 400, code: 'TURN_FINISHED' });
  });

  test('`starting_after` gives the events behind a number, each as it was', async () => {
    const input = newText();
    const posting = post({ input, stream: true });
    const call = await server.callOf(input);
    for (const word of ['One ', 'two ', 'three.']) call.say(word);
    call.end(usage);
    const events = eventsIn(await (await posting).text());
    const { id } = lastResponse(events);
    const place = events.findIndex(({ type }) => type === 'response.output_text.delta');
    const after = events[place]?.sequence_number;

    const path = `/v1/responses/${id}?stream=true&starting_after=${after}`;
    const rest = eventsIn(await (await server.call(path)).text());

    const told = (each: (typeof events)[number]) => [each.sequence_number, each.type];
    expect(rest.map(told)).toEqual(events.slice(place + 1).map(told));
    expect(lastResponse(rest).output).toEqual(lastResponse(events).output);
  });
});
