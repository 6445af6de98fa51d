import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { transcriptOf } from '#test/support/wire/openai.ts';
import { startResponsesServer } from './responses-server.ts';

const server = await startResponsesServer();
afterAll(() => server.stop());

const locate = tool({
  name: 'locate',
  description: 'Says where the user is.',
  parameters: z.object({ question: z.string() }),
  execute: () => ({ city: 'Oslo' }),
});

const ASKING = 'Let me see.\ncall locate {"question":"where"}\nthen\nYou are in Oslo.';

async function runnerOf() {
  const apiKey = (await server.authorization()).replace('Bearer ', '');
  const modelProvider = new OpenAIProvider({ baseURL: `${server.url}/v1/openai`, apiKey });
  return new Runner({ modelProvider, tracingDisabled: true });
}

const agent = new Agent({ name: 'Guide', instructions: 'Be short.', tools: [locate] });

describe('@openai/agents with its defaults', () => {
  test('an agent of OpenAI runs its tool and gets the answer', async () => {
    const runner = await runnerOf();

    const { finalOutput, lastResponseId = '' } = await runner.run(agent, ASKING);

    expect(finalOutput).toBe('You are in Oslo.');
    expect(lastResponseId).toMatch(/^resp_/);
  });

  test('an agent of OpenAI streams its answer', async () => {
    const runner = await runnerOf();

    const result = await runner.run(agent, ASKING, { stream: true });
    let text = '';
    for await (const part of result.toTextStream()) text += part;
    await result.completed;

    expect(text).toContain('You are in Oslo.');
    expect(result.finalOutput).toBe('You are in Oslo.');
  });

  test('an agent of OpenAI goes on behind the response of the run before', async () => {
    const runner = await runnerOf();
    const { lastResponseId = '' } = await runner.run(agent, ASKING);

    const { finalOutput } = await runner.run(agent, 'Oslo again.', {
      previousResponseId: lastResponseId,
    });

    expect(finalOutput).toBe('Oslo again.');
  });

  test('an agent of OpenAI is told what to send in place of its whole history', async () => {
    const runner = await runnerOf();
    const { history } = await runner.run(agent, ASKING);

    const next = runner.run(agent, [...history, { role: 'user', content: 'Oslo again.' }]);

    await expect(next).rejects.toThrow('`previous_response_id`');
  });

  test('an agent of OpenAI goes on in a conversation of the server', async () => {
    const runner = await runnerOf();
    const conversationId = crypto.randomUUID();
    await runner.run(agent, ASKING, { conversationId });
    await runner.run(agent, 'Where am I?', { conversationId });

    expect(await transcriptOf(server, conversationId)).toHaveLength(4);
  });

  test('an agent of OpenAI gets an output that fits its type', async () => {
    const runner = await runnerOf();
    const typed = new Agent({
      name: 'Typed',
      instructions: 'Be short.',
      outputType: z.object({ city: z.string() }),
    });

    const { finalOutput } = await runner.run(typed, '{"city":"Oslo"}');

    expect(finalOutput).toEqual({ city: 'Oslo' });
  });
});
