import type OpenAI from 'openai';
import { afterAll, expect, test } from 'vitest';
import { chatCompletionResponse } from '#shared/wire/facades/openai.ts';
import { clientOf, errorOfSdk } from '#test/support/wire/openai.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';

const server = await startToolServer();
afterAll(() => server.stop());

const ASKING =
  'Let me see.\ncall locate {"question":"where"}\ncall weather {"city":"Oslo"}\nthen\nYou are in Oslo.';

type Messages = OpenAI.ChatCompletionMessageParam[];
const asking: Messages = [{ role: 'user', content: ASKING }];

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

/** A conversation whose answer waits for `locate`. */
async function waiting() {
  const { client } = await clientOf(server);
  const conversationId = await conversationWithTools(server);
  const completion = await client.chat.completions.create(bodyOf(conversationId, asking));
  return { client, conversationId, completion };
}

test('the OpenAI SDK gets the app’s calls without the server’s, and the rest for its results, repeatably', async () => {
  const { client, conversationId, completion } = await waiting();
  const { message } = chatCompletionResponse.parse(completion).choices[0] ?? {};
  const body = bodyOf(conversationId, [
    ...asking,
    completion.choices[0]?.message ?? { role: 'assistant' },
    result('{"city":"Oslo"}'),
  ]);

  const rest = await client.chat.completions.create(body);
  const again = await client.chat.completions.create(body);

  expect(completion.choices[0]?.finish_reason).toBe('tool_calls');
  expect(message).toMatchObject({
    content: 'Let me see.',
    tool_calls: [
      {
        id: 't_1_c0',
        type: 'function',
        function: { name: 'locate', arguments: '{"question":"where"}' },
      },
    ],
  });
  expect(rest.choices).toMatchObject([
    { finish_reason: 'stop', message: { content: 'You are in Oslo.' } },
  ]);
  expect(rest.choices[0]?.message.tool_calls).toBeUndefined();
  expect(again.choices).toEqual(rest.choices);
  expect([completion, rest, again].map(({ usage }) => usage?.total_tokens)).toEqual([12, 12, 12]);
});

test('the OpenAI SDK gets the calls again for its first request, and retrieves what came last', async () => {
  const { client, conversationId, completion } = await waiting();
  const headers = { 'X-Stainless-Retry-Count': '1' };
  const answered: Messages = [...asking, result('{"city":"Oslo"}')];
  await client.chat.completions.create(bodyOf(conversationId, answered));
  const first = bodyOf(conversationId, asking);

  const again = await client.chat.completions.create(first, { headers });
  const streamed = await client.chat.completions.stream(first, { headers }).finalChatCompletion();
  const retrieved = await client.chat.completions.retrieve(completion.id);

  expect(again.choices).toEqual(completion.choices);
  expect(streamed.choices).toMatchObject([
    { finish_reason: 'tool_calls', message: { content: 'Let me see.' } },
  ]);
  expect(retrieved.choices).toMatchObject([{ message: { content: 'You are in Oslo.' } }]);
});

test.each<[string, Messages, { code: string; param?: string }]>([
  ['another result', [result('"Rome"')], { code: 'TOOL_RESULT_CONFLICT', param: '' }],
  ['an unknown call', [result('1', 't_1_c7')], { code: 'TOOL_CALL_NOT_FOUND' }],
  ['a call of another protocol', [result('1', 'call_abc')], { code: 'TURN_NOT_FOUND' }],
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
    client.chat.completions.create(bodyOf(conversationId, [...asking, ...messages]), {
      maxRetries: 0,
    });
  await answer([result('"Oslo"')]);

  expect(await errorOfSdk(answer(results))).toMatchObject(expected);
});
