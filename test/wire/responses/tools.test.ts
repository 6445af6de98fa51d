import { randomUUID } from 'node:crypto';
import type OpenAI from 'openai';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { ModelStreamer } from '#shared/ports/ports.ts';
import { steeredStreamer } from '#test/fakes/steered-streamer.ts';
import { eventually } from '#test/support/eventually.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';
import { clientOf, transcriptOf } from '#test/support/wire/openai.ts';
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
const asking = () =>
  `Let me see. ${randomUUID()}\ncall locate {"question":"where"}\nthen\nYou are in Oslo.`;

type Call = OpenAI.Responses.ResponseFunctionToolCall;

/** What a response said and called, as input of the next one. */
const toldAgain = (response: OpenAI.Responses.Response) => {
  const items: OpenAI.Responses.ResponseInputItem[] = [];
  for (const item of response.output)
    if (item.type === 'message' || item.type === 'function_call') items.push(item);
  return items;
};

const callIn = (response: OpenAI.Responses.Response): Call => {
  const call = response.output.find((item) => item.type === 'function_call');
  if (call?.type !== 'function_call') throw new Error('the response calls nothing');
  return call;
};

const outputOf = ({ call_id }: Call) => ({
  type: 'function_call_output' as const,
  call_id,
  output: '{"city":"Oslo"}',
});

async function* callOfLocate() {
  const parts = [{ functionCall: { name: 'locate', args: {} } }];
  yield await Promise.resolve({ parts, finishReason: 'STOP' });
}

test('a call of the Responses API waits for its output; the rest is a response of its own, found by its id with its input', async () => {
  const { client } = await clientOf(server);
  const first = await client.responses.create({ model, input: asking(), tools });
  const rest = await client.responses.create({
    model,
    input: [outputOf(callIn(first))],
    previous_response_id: first.id,
  });

  const one = await client.responses.retrieve(first.id);
  const two = await client.responses.retrieve(rest.id);
  const items = await client.responses.inputItems.list(rest.id);

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
  expect(one).toMatchObject({ output: first.output, usage: first.usage });
  expect(two).toMatchObject({ output: rest.output, usage: rest.usage });
  expect(items.data).toMatchObject([
    { type: 'function_call_output', call_id: callIn(first).call_id, output: '{"city":"Oslo"}' },
  ]);
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

test('the rest of an answer behind calls is read word by word while it is given', async () => {
  const steered = steeredStreamer();
  const calling: ModelStreamer = {
    stream: (request, signal) =>
      request.contents.at(-1)?.parts[0]?.functionResponse
        ? steered.model.stream(request, signal)
        : callOfLocate(),
  };
  const own = await startWireServer({
    overrides: { model: calling },
    environment: { CLIENT_WRITABLE: 'tools' },
  });
  onTestFinished(() => own.stop());
  const { client } = await clientOf(own);
  const first = await client.responses.create({ model, input: 'Where?', tools });
  const resting = client.responses.create({ model, input: [outputOf(callIn(first))] });
  const rest = await steered.call();
  const deltas: string[] = [];
  const read = async () => {
    const stream = await client.responses.retrieve(`${first.id}_c1`, { stream: true });
    for await (const event of stream)
      if (event.type === 'response.output_text.delta') deltas.push(event.delta);
  };

  const reading = read();
  rest.say('In ');
  await eventually('the first word', () => Promise.resolve(deltas[0]));
  rest.say('Oslo.');
  rest.end();
  await reading;

  expect(deltas).toEqual(['In ', 'Oslo.']);
  expect((await resting).id).toBe(`${first.id}_c1`);
});

test.each([false, true])(
  'a message whose calls were answered since is told again up to its calls (streamed: %s)',
  async (stream) => {
    const { client } = await clientOf(server);
    const headers = { 'Idempotency-Key': randomUUID() };
    const body = { model, input: asking(), tools };
    const first = await client.responses.create(body, { headers });
    await client.responses.create({ model, input: [outputOf(callIn(first))] });

    const again = stream
      ? await client.responses.stream(body, { headers }).finalResponse()
      : await client.responses.create(body, { headers });

    expect(again.output).toMatchObject(asResource(first).output);
    expect(again.usage).toEqual(first.usage);
  },
);
