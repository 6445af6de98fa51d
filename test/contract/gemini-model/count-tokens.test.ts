import { describe, expect, test } from 'vitest';
import type { Prompt } from '#shared/ports/ports.ts';
import {
  connect,
  contents,
  never,
  request,
  fakeGemini,
  startFakeGeminiForEachTest,
} from '#test/support/gemini-model-calls.ts';

startFakeGeminiForEachTest();

describe('countTokens', () => {
  const prompt: Prompt = {
    model: 'gemini-2.5-flash',
    systemInstruction: 'Be brief. 짧게.',
    tools: [{ name: 'find', parametersJsonSchema: { type: 'object' } }],
    contents,
  };
  const vertex = { project: 'demo', location: 'europe-west1' };

  test.each([
    ['the Gemini API', {}],
    ['Vertex AI', { vertex }],
  ])('countTokens counts on %s what a call with the same prompt reports', async (_, options) => {
    const gemini = connect(options);

    const counted = await gemini.countTokens(prompt, never);
    const { usage } = await gemini.generate({ ...request, ...prompt }, never);

    expect(counted).toBe(usage?.promptTokens);
  });

  test.each([
    ['the Gemini API', {}],
    ['Vertex AI', { vertex }],
  ])('countTokens counts system instruction and tools alone on %s', async (_, options) => {
    const gemini = connect(options);

    const overhead = await gemini.countTokens({ ...prompt, contents: [] }, never);
    const whole = await gemini.countTokens(prompt, never);

    expect(overhead).toBeGreaterThan(10);
    expect(whole).toBeGreaterThan(overhead);
  });

  test('countTokens of an empty prompt is 0 without a call', async () => {
    const counted = await connect().countTokens({ model: 'gemini-2.5-flash', contents: [] }, never);

    expect(counted).toBe(0);
    expect(fakeGemini.journal()).toHaveLength(0);
  });

  test('countTokens is retried after a 500', async () => {
    fakeGemini.queueFaults({ kind: 'internal', match: { operation: 'countTokens' } });

    expect(await connect().countTokens(prompt, never)).toBeGreaterThan(0);
    expect(fakeGemini.journal()).toHaveLength(2);
  });
});
