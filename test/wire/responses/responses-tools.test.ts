import { randomUUID } from 'node:crypto';
import type OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { clientOf, errorOfSdk, transcriptOf } from '#test/support/wire/openai.ts';
import { asResource, conversationIdOf, startResponsesServer } from './responses-server.ts';

const server = await startResponsesServer();
afterAll(() => server.stop());

const model = 'recap';
const tools: OpenAI.Responses.FunctionTool[] = ['locate', 'choose'].map((name) => ({
  type: 'function',
  name,
  parameters: { type: 'object', properties: { question: { type: 'string' } } },
  strict: false,
}));

/** A new text each time: the same one again within an hour is a conversation of its own, too. */
const asking = (rest = 'You are in Oslo.') =>
  `Let me see. ${randomUUID()}\ncall locate {"question":"where"}\nthen\n${rest}`;

type Call = OpenAI.Responses.ResponseFunctionToolCall;

/** What a response said and called, as input of the next one. */
const toldAgain = (response: OpenAI.Responses.Response) => {
  const items: OpenAI.Responses.ResponseInputItem[] = [];
  for (const item of response.output)
    if (item.type === 'message' || item.type === 'function_call' || item.type === 'reasoning')
      items.push(item);
  return items;
};

const callIn = (response: OpenAI.Responses.Response): Call => {
  const call = response.output.find((item) => item.type === 'function_call');
  if (call?.type !== 'function_call') throw new Error('the response calls nothing');
  return call;
};

const outputOf = ({ call_id }: Call, output = '{"city":"Oslo"}') => ({
  type: 'function_call_output' as const,
  call_id,
  output,
});

describe('tools of the Responses API', () => {
  test('a call of the Responses API waits for its output, and the rest is a response of its own', async () => {
    const { client } = await clientOf(server);
    const first = await client.responses.create({ model, input: asking(), tools });

    const rest = await client.responses.create({
      model,
      input: [outputOf(callIn(first))],
      previous_response_id: first.id,
    });

    expect(asResource(first).output).toMatchObject([
      { type: 'message', content: [{ text: expect.stringContaining('Let me see.') }] },
      { type: 'function_call', name: 'locate', arguments: '{"question":"where"}' },
    ]);
    expect(asResource(rest)).toMatchObject({
      status: 'completed',
      output: [{ type: 'message', content: [{ text: 'You are in Oslo.' }] }],
    });
    expect(rest.conversation).toEqual(first.conversation);
    expect(rest.id).not.toBe(first.id);
  });

  test('a client that tells all items again answers the stored call by its id', async () => {
    const { client } = await clientOf(server);
    const text = asking();
    const first = await client.responses.create({ model, input: text, tools });
    const input = [
      { role: 'user' as const, content: text },
      ...toldAgain(first),
      outputOf(callIn(first)),
    ];

    const rest = await client.responses.create({ model, input, tools });
    const again = await client.responses.create({ model, input, tools });

    expect(rest.output_text).toBe('You are in Oslo.');
    expect(again).toMatchObject({ id: rest.id, output: rest.output });
    expect(await transcriptOf(server, conversationIdOf(rest))).toHaveLength(2);
  });

  test('each response of a turn with calls is found by its own id, with its own input', async () => {
    const { client } = await clientOf(server);
    const first = await client.responses.create({ model, input: asking(), tools });
    const rest = await client.responses.create({ model, input: [outputOf(callIn(first))] });

    const [one, two] = [
      await client.responses.retrieve(first.id),
      await client.responses.retrieve(rest.id),
    ];
    const items = await client.responses.inputItems.list(rest.id);

    expect(one).toMatchObject({ output: first.output, usage: first.usage });
    expect(two).toMatchObject({ output: rest.output, usage: rest.usage });
    expect(items.data).toMatchObject([
      { type: 'function_call_output', call_id: callIn(first).call_id, output: '{"city":"Oslo"}' },
    ]);
  });

  test('the `.stream()` helper of OpenAI gets calls and, streamed again, the rest', async () => {
    const { client } = await clientOf(server);
    const first = await client.responses.stream({ model, input: asking(), tools }).finalResponse();
    const rest = await client.responses
      .stream({ model, input: [outputOf(callIn(first))], tools })
      .finalResponse();
    const replay = client.responses.stream({ response_id: rest.id });

    expect(callIn(first)).toMatchObject({ name: 'locate', status: 'completed' });
    expect(rest.output_text).toBe('You are in Oslo.');
    expect(await replay.finalResponse()).toMatchObject({
      id: rest.id,
      output_text: rest.output_text,
    });
  });

  test('calls without a conversation are answered by a client that tells them again', async () => {
    const { client } = await clientOf(server);
    const text = asking();
    const first = await client.responses.create({ model, input: text, tools, store: false });
    const rest = await client.responses.create({
      model,
      input: [{ role: 'user', content: text }, ...toldAgain(first), outputOf(callIn(first))],
      tools,
      store: false,
    });

    expect(asResource(first)).toMatchObject({ store: false, conversation: null });
    expect(rest.output_text).toBe('You are in Oslo.');
  });

  test('a call of the server that its user has to allow is told, and not answered by the app', async () => {
    const { client } = await clientOf(server);
    const response = await client.responses.create({
      model,
      input: `Wait. ${randomUUID()}\ncall transfer {"amount":5}\nthen\nAllowed.`,
    });

    const approvals = [{ callId: 't_1_c0', toolName: 'transfer' }];
    expect(asResource(response)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'approval_required' },
      recap: { approvals },
    });
    // The message began with words, so it is told behind them by fields alone.
    const found = asResource(await client.responses.retrieve(response.id));
    expect(found).toMatchObject({ status: 'incomplete', recap: { approvals } });
    const turn = `/v1/conversations/${conversationIdOf(response)}/turns/t_1`;
    await server.call(`${turn}/toolResults`, {
      method: 'POST',
      body: { results: [{ callId: 't_1_c0', approved: true }] },
    });
    const allowed = await client.responses.retrieve(response.id);
    expect(allowed).toMatchObject({ status: 'completed' });
    expect(allowed.output_text).toContain('Allowed.');
  });

  test.each([false, true])(
    'a reader without our fields learns of the waiting call, too (streamed: %s)',
    async (stream) => {
      const { client } = await clientOf(server);
      const body = { model, input: `call transfer {"amount":5}\nthen\nAllowed. ${randomUUID()}` };
      let text = '';
      if (stream)
        for await (const event of await client.responses.create({ ...body, stream }))
          text += event.type === 'response.output_text.delta' ? event.delta : '';
      else text = (await client.responses.create(body)).output_text;

      expect(text).toContain('This answer waits until the user allows transfer');
    },
  );

  test('a tool that OpenAI runs is refused by name, with the remedy', async () => {
    const { client } = await clientOf(server);

    const error = await errorOfSdk(
      client.responses.create({ model, input: 'Hi', tools: [{ type: 'web_search' }] }),
    );

    expect(error).toMatchObject({ status: 400, param: 'tools[0].type' });
    expect(error.message).toContain('`web_search`, which OpenAI runs');
  });
});
