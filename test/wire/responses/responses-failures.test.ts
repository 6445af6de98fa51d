import OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { overloaded } from '#test/support/model-down.ts';
import { ANSWER, EXAMPLE, groundedAnswer, UEFA } from '#test/support/tools/grounded.ts';
import { clientOf, errorOfSdk, newText, transcriptOf } from '#test/support/wire/openai.ts';
import { asResource, conversationIdOf, eventsOf, lastResponse, usage } from './responses-server.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startWireServer({ environment: { GROUNDING: 'search' } });
afterAll(() => server.stop());

const model = 'recap';

describe('a response that does not come at once', () => {
  test.each([
    ['asked for in one piece', false],
    ['streamed', true],
  ])('a response repeated by the SDK after 503 is one turn, %s', async (_, stream) => {
    const { client, posts } = await clientOf(server);
    const text = newText();
    const asked = client.responses.create({ model, input: text, stream });
    (await server.callOf(text, 0)).fail(overloaded());
    await server.answer(text, 'Fine.', 1);
    const answer = await asked;
    let id = 'id' in answer ? answer.id : '';
    if (Symbol.asyncIterator in answer)
      for await (const event of answer) if ('response' in event) id = event.response.id;

    const found = await client.responses.retrieve(id);
    expect(posts).toHaveLength(3);
    expect(await transcriptOf(server, conversationIdOf(found))).toEqual([
      ['user', text],
      ['model', 'Fine.'],
    ]);
  });

  test('a response that fails after its first word ends as `response.failed`', async () => {
    const text = newText();
    const posting = server.call('/v1/responses', {
      method: 'POST',
      body: { model, input: text, stream: true },
    });
    const call = await server.callOf(text);
    call.say('One ');
    const response = await posting;
    call.fail(new Error('the model is gone'));

    const ended = lastResponse(await eventsOf(response));

    expect(ended).toMatchObject({ status: 'failed', error: { message: expect.any(String) } });
    const found = await server.call(`/v1/responses/${ended.id}`);
    expect(asResource(await found.json())).toMatchObject({ status: 'failed' });
  });

  test('the same `Idempotency-Key` is the same response', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const asked = client.responses.create({ model, input: text }, { headers });
    await server.answer(text, 'Fine.');
    const one = await asked;

    const again = await client.responses.create({ model, input: text }, { headers });
    const other = await errorOfSdk(
      client.responses.create({ model, input: newText() }, { headers }),
    );

    expect(again.id).toBe(one.id);
    expect(other).toBeInstanceOf(OpenAI.ConflictError);
    expect(other.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test('a response is refused while another one of its conversation is made', async () => {
    const { client, posts } = await clientOf(server);
    const [text, conversation] = [newText(), crypto.randomUUID()];
    const running = client.responses.create({ model, input: text, conversation });
    await server.callOf(text);

    const error = await errorOfSdk(
      client.responses.create({ model, input: newText(), conversation }),
    );

    expect(error.code).toBe('TURN_IN_PROGRESS');
    expect(posts).toHaveLength(2);
    await server.answer(text, 'Fine.');
    await running;
  });
});

describe('what a response holds beside its text', () => {
  const annotations = [
    [UEFA, 'uefa.com', 'España won Euro 2024.'],
    [EXAMPLE, 'example.org', 'The final was in Berlin.'],
  ].map(([url, title, says = '']) => ({
    type: 'url_citation',
    url,
    title,
    start_index: ANSWER.indexOf(says),
    end_index: ANSWER.indexOf(says) + says.length,
  }));

  test('a response has its sources as annotations, streamed too', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const stream = client.responses.stream({ model, input: text });
    await groundedAnswer(server, text);

    const streamed = await stream.finalResponse();
    const found = await client.responses.retrieve(streamed.id);

    for (const { output } of [streamed, found])
      expect(output).toMatchObject([{ content: [{ text: ANSWER, annotations }] }]);
  });

  test('an image and a file of a request reach the model', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.responses.create({
      model,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
            { type: 'input_image', image_url: 'https://example.org/boat.jpg', detail: 'auto' },
            { type: 'input_file', file_data: 'data:application/pdf;base64,AAAA' },
          ],
        },
        { role: 'user', content: text },
      ],
    });
    const { request } = await server.callOf(text);
    await server.answer(text, 'Fine.');
    const { id } = await asked;

    expect(request.contents.at(-1)?.parts).toMatchObject([
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.org/boat.jpg' } },
      { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
      { text },
    ]);
    const { data } = await client.responses.inputItems.list(id);
    expect(data).toMatchObject([
      {
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
          { type: 'input_image', image_url: 'https://example.org/boat.jpg' },
          { type: 'input_file', file_url: 'data:application/pdf;base64,AAAA' },
          { type: 'input_text', text },
        ],
      },
    ]);
  });

  test('a response tells the size of its context and where its compaction stands', async () => {
    const { client } = await clientOf(server);
    const text = newText();
    const asked = client.responses.create({ model, input: text });
    const call = await server.callOf(text);
    call.say('Fine.');
    call.end(usage);

    const { recap } = asResource(await asked);

    expect(recap?.context).toMatchObject({ generation: 0, compaction: null });
    expect(recap?.context?.tokens).toBeGreaterThan(0);
  });
});
