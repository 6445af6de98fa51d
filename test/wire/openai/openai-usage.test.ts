import { randomUUID } from 'node:crypto';
import type OpenAI from 'openai';
import { afterAll, expect, test } from 'vitest';
import { turnResponse } from '#shared/wire/resources/turns.ts';
import { clientOf } from '#test/support/wire/openai.ts';
import { conversationWithTools, startToolServer } from '#test/support/wire/tool-server.ts';

const server = await startToolServer();
afterAll(() => server.stop());

/** Three calls of the model, each of 10 tokens read and 2 written, with calls of the app and the server between. */
const STEPS =
  'call locate {"n":1}\nthen\ncall weather {"city":"Oslo"}\ncall choose {"n":2}\nthen\nIn Oslo.';
const TOTAL = 36;

const appTool = (name: string) => ({
  type: 'function' as const,
  function: {
    name,
    description: `Runs ${name}.`,
    parameters: { type: 'object', properties: { n: { type: 'number' } } },
    function: () => 'Oslo',
    parse: (text: string): object => JSON.parse(text),
  },
});

async function turnTokens(conversationId: string): Promise<number> {
  const answer = await server.call(`/v1/conversations/${conversationId}/turns/t_1`);
  const { usage } = turnResponse.parse(await answer.json());
  return (usage?.promptTokens ?? 0) + (usage?.outputTokens ?? 0);
}

test.each([false, true])(
  'the OpenAI SDK’s total usage over rounds of tools is what the turn took, streamed: %s',
  async (stream) => {
    const { client } = await clientOf(server);
    const conversationId = randomUUID();
    const body = {
      model: 'recap',
      messages: [{ role: 'user' as const, content: STEPS }],
      metadata: { conversation_id: conversationId },
      tools: [appTool('locate'), appTool('choose')],
    };
    const runner = stream
      ? client.chat.completions.runTools({
          ...body,
          stream: true,
          stream_options: { include_usage: true },
        })
      : client.chat.completions.runTools(body);

    const { total_tokens } = await runner.totalUsage();

    expect(total_tokens).toBe(TOTAL);
    expect(await turnTokens(conversationId)).toBe(TOTAL);
  },
);

test('a repeated request of the OpenAI SDK has the usage that it had', async () => {
  const { client } = await clientOf(server);
  const conversationId = await conversationWithTools(server);
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: STEPS }];
  const ask = () =>
    client.chat.completions.create({
      model: 'recap',
      messages,
      metadata: { conversation_id: conversationId },
    });
  const first = await ask();
  const message = first.choices[0]?.message;
  if (!message) throw new Error('no message');
  messages.push(message, { role: 'tool', tool_call_id: 't_1_c0', content: 'Oslo' });

  const second = await ask();
  const again = await ask();

  expect([first, second, again].map(({ usage }) => usage?.total_tokens)).toEqual([12, 12, 12]);
});
