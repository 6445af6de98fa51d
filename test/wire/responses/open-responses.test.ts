import { createOpenResponses } from '@ai-sdk/open-responses';
import { generateText, stepCountIs, streamText, tool, Output } from 'ai7';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startResponsesServer } from './responses-server.ts';

const server = await startResponsesServer();
afterAll(() => server.stop());

async function modelOf() {
  const apiKey = (await server.authorization()).replace('Bearer ', '');
  return createOpenResponses({
    name: 'recap',
    url: `${server.url}/v1/responses`,
    apiKey,
  })('recap');
}

const tools = {
  locate: tool({
    description: 'Says where the user is.',
    inputSchema: z.object({ question: z.string() }),
    execute: ({ question }) => ({ question, city: 'Oslo' }),
  }),
};

const ASKING = 'Let me see.\ncall locate {"question":"where"}\nthen\nYou are in Oslo.';

describe('@ai-sdk/open-responses', () => {
  test('@ai-sdk/open-responses runs a tool and gets the answer', async () => {
    const { text, steps } = await generateText({
      model: await modelOf(),
      instructions: 'Be short.',
      prompt: ASKING,
      tools,
      stopWhen: stepCountIs(3),
    });

    expect(text).toBe('You are in Oslo.');
    expect(steps).toHaveLength(2);
  });

  test('@ai-sdk/open-responses streams a tool and the answer', async () => {
    const streaming = streamText({
      model: await modelOf(),
      prompt: ASKING,
      tools,
      stopWhen: stepCountIs(3),
    });

    expect(await streaming.text).toBe('You are in Oslo.');
    expect(await streaming.finishReason).toBe('stop');
    expect((await streaming.usage).inputTokens).toBeGreaterThan(0);
  });

  test('@ai-sdk/open-responses is told what to send in place of a dialogue without a conversation', async () => {
    const asked = generateText({
      model: await modelOf(),
      messages: [
        { role: 'user', content: 'My name is Alice.' },
        { role: 'assistant', content: 'Hello Alice!' },
        { role: 'user', content: 'You are Alice.' },
      ],
    });

    await expect(asked).rejects.toThrow('`previous_response_id`');
  });

  test('@ai-sdk/open-responses gets an object that fits its schema', async () => {
    const { output } = await generateText({
      model: await modelOf(),
      prompt: '{"city":"Oslo"}',
      output: Output.object({ schema: z.object({ city: z.string() }) }),
    });

    expect(output).toEqual({ city: 'Oslo' });
  });
});
