import { randomUUID } from 'node:crypto';
import type OpenAI from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { chatCompletionChunk, chatCompletionResponse } from '#shared/wire/facades/openai.ts';
import { clientOf, errorOfSdk } from '#test/support/wire/openai.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';
import { startWireServer } from '#test/support/wire/wire-server.ts';

const server = await startToolServer();
afterAll(() => server.stop());

const ASKING =
  'Let me see.\ncall locate {"question":"where"}\ncall weather {"city":"Oslo"}\nthen\nYou are in Oslo.';

type Messages = OpenAI.ChatCompletionMessageParam[];
const asking = (content = ASKING): Messages => [{ role: 'user', content }];

const bodyOf = (conversationId: string, messages: Messages) => ({
  model: 'recap',
  messages,
  metadata: { conversation_id: conversationId },
});

const result = (content: string, id = 't_1_c0') => ({
  role: 'tool' as const,
  tool_call_id: id,
  content,
});

const tool = (name: string): OpenAI.ChatCompletionTool => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
});

/** A conversation whose answer waits for `locate`. */
async function waiting() {
  const { client } = await clientOf(server);
  const conversationId = await conversationWithTools(server);
  const completion = await client.chat.completions.create(bodyOf(conversationId, asking()));
  return { client, conversationId, completion };
}

describe('the SDK of OpenAI, when the model calls functions of the app', () => {
  test('the OpenAI SDK gets the app’s calls without the server’s', async () => {
    const { completion } = await waiting();

    expect(chatCompletionResponse.parse(completion).choices).toMatchObject([
      {
        finish_reason: 'tool_calls',
        message: {
          content: 'Let me see.',
          tool_calls: [
            {
              id: 't_1_c0',
              type: 'function',
              function: { name: 'locate', arguments: '{"question":"where"}' },
            },
          ],
        },
      },
    ]);
  });

  test('the OpenAI SDK answers app calls and gets the rest, repeatably', async () => {
    const { client, conversationId, completion } = await waiting();
    const [choice] = completion.choices;
    if (!choice) throw new Error('no choice');
    const body = bodyOf(conversationId, [...asking(), choice.message, result('{"city":"Oslo"}')]);

    const rest = await client.chat.completions.create(body);
    const again = await client.chat.completions.create(body);

    expect(rest.choices).toMatchObject([
      { finish_reason: 'stop', message: { content: 'You are in Oslo.' } },
    ]);
    expect(rest.choices[0]?.message.tool_calls).toBeUndefined();
    expect(again.choices).toEqual(rest.choices);
  });

  test('the OpenAI SDK streams calls and rest, and a replay begins behind the calls', async () => {
    const { client } = await clientOf(server);
    const conversationId = await conversationWithTools(server);
    const first = client.chat.completions.stream(bodyOf(conversationId, asking()));
    for await (const chunk of first) chatCompletionChunk.strict().parse(chunk);
    const message = await first.finalMessage();
    const body = bodyOf(conversationId, [...asking(), message, result('Oslo')]);

    const rest = await client.chat.completions.stream(body).finalChatCompletion();
    const again = await client.chat.completions.stream(body).finalChatCompletion();

    expect(message).toMatchObject({
      content: 'Let me see.',
      tool_calls: [{ id: 't_1_c0', function: { name: 'locate' } }],
    });
    for (const { choices } of [rest, again])
      expect(choices).toMatchObject([
        { finish_reason: 'stop', message: { content: 'You are in Oslo.' } },
      ]);
  });

  test('the OpenAI SDK gets the calls again for its first request, and retrieves what came last', async () => {
    const { client, conversationId, completion } = await waiting();
    const headers = { 'X-Stainless-Retry-Count': '1' };
    await client.chat.completions.create(
      bodyOf(conversationId, [...asking(), result('{"city":"Oslo"}')]),
    );
    const first = bodyOf(conversationId, asking());

    const again = await client.chat.completions.create(first, { headers });
    const streamed = await client.chat.completions.stream(first, { headers }).finalChatCompletion();
    const retrieved = await client.chat.completions.retrieve(completion.id);

    expect(again.choices).toEqual(completion.choices);
    expect(streamed.choices).toMatchObject([
      { finish_reason: 'tool_calls', message: { content: 'Let me see.' } },
    ]);
    expect(retrieved.choices).toMatchObject([{ message: { content: 'You are in Oslo.' } }]);
  });

  test('the OpenAI SDK declares tools with messages and runs them by its helper', async () => {
    const { client } = await clientOf(server);
    const runner = client.chat.completions.runTools({
      ...bodyOf(randomUUID(), asking('call locate {}\nthen\ncall choose {}\nthen\nDone so.')),
      tools: ['locate', 'choose'].map((name) => ({
        type: 'function' as const,
        function: {
          name,
          description: `Does ${name}.`,
          parameters: { type: 'object', properties: {} },
          parse: (text: string): unknown => JSON.parse(text),
          function: () => ({ given: name }),
        },
      })),
    });

    expect(await runner.finalContent()).toBe('Done so.');
    const given = runner.messages.filter(({ role }) => role === 'tool');
    expect(given.map(({ content }) => content)).toEqual([
      '{"given":"locate"}',
      '{"given":"choose"}',
    ]);
  });

  test.each<[string, Messages, { code: string; param: string }]>([
    ['another result', [result('"Rome"')], { code: 'TOOL_RESULT_CONFLICT', param: '' }],
    [
      'an unknown call',
      [result('1', 't_1_c7')],
      { code: 'TOOL_CALL_NOT_FOUND', param: 'messages[1].tool_call_id' },
    ],
    [
      'a call of another protocol',
      [result('1', 'call_abc')],
      { code: 'TURN_NOT_FOUND', param: 'messages[1].tool_call_id' },
    ],
    [
      'calls of two answers',
      [result('1'), result('1', 't_2_c0')],
      { code: 'BAD_FIELD', param: 'messages[2].tool_call_id' },
    ],
    [
      'a call twice',
      [result('1'), result('1')],
      { code: 'BAD_FIELD', param: 'messages[2].tool_call_id' },
    ],
  ])('the OpenAI SDK’s tools are refused for %s', async (_, results, expected) => {
    const { client, conversationId } = await waiting();
    const answer = (messages: Messages) =>
      client.chat.completions.create(bodyOf(conversationId, [...asking(), ...messages]), {
        maxRetries: 0,
      });
    await answer([result('"Oslo"')]);

    expect(await errorOfSdk(answer(results))).toMatchObject(expected);
  });

  test('the OpenAI SDK is refused tools where the deployment lets nobody declare them', async () => {
    const closed = await startWireServer();
    const { client } = await clientOf(closed);

    const error = await errorOfSdk(
      client.chat.completions.create({
        ...bodyOf(randomUUID(), asking('Hi.')),
        tools: [tool('locate')],
      }),
    );
    await closed.stop();

    expect(error).toMatchObject({ status: 400, code: 'FIELD_NOT_WRITABLE', param: 'tools' });
  });

  test('the OpenAI SDK learns what is wrong with a tool', async () => {
    const { client } = await clientOf(server);
    const declaring = (name: string) =>
      client.chat.completions.create({
        ...bodyOf(randomUUID(), asking('Hi.')),
        tools: [tool(name)],
      });

    expect(await errorOfSdk(declaring('get-place'))).toMatchObject({
      code: 'BAD_FIELD',
      param: 'tools[0].name',
    });
    expect(await errorOfSdk(declaring('weather'))).toMatchObject({ code: 'TOOL_NAME_TAKEN' });
  });
});
