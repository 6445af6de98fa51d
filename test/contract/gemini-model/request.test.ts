import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import { signPart } from '#infra/fake-gemini/answers/signatures.ts';
import {
  collect,
  connect,
  contents,
  describeWithEachReader,
  never,
  request,
  fakeGemini,
  startFakeGeminiForEachTest,
} from '#test/support/gemini-model-calls.ts';

startFakeGeminiForEachTest();

describeWithEachReader('parts', () => {
  const functionCall = { name: 'find', args: { code: 1 }, id: 'f1' };
  const answer: Part[] = [
    { text: 'thinking', thought: true },
    {
      functionCall,
      thoughtSignature: signPart('gemini-3.8-flash', { functionCall }),
      newField: { nested: [1, null] },
    },
    { functionCall: { name: 'find', args: { code: 2 } } },
  ];
  const call: Content = { role: 'model', parts: answer };
  const response: Content = {
    role: 'user',
    parts: [1, 2].map((code) => ({
      functionResponse: { name: 'find', response: { code }, anotherField: true },
    })),
  };
  const gemini3 = { ...request, model: 'gemini-3.8-flash' };

  test.each(['gemini', 'vertex'])(
    'contents reach the %s API unchanged, unknown fields included',
    async (api) => {
      const vertex = { project: 'demo', location: 'europe-west1' };
      const sent = [{ role: 'user' as const, parts: [{ text: 'Find.' }] }, call, response];

      await connect(api === 'vertex' ? { vertex } : {}).generate(
        { ...gemini3, contents: sent },
        never,
      );

      expect(fakeGemini.journal()[0]).toMatchObject({ api, httpStatus: 200 });
      expect(fakeGemini.requestBody(1)).toMatchObject({ contents: sent });
    },
  );

  test('parts of a model answer are returned unchanged, streamed and whole', async () => {
    const userHash = createHash('sha256').update('What is the vault code?').digest('hex');
    fakeGemini.registerAnswers({ userHash, ordinal: 1, contents: [call] });

    const whole = await connect().generate(gemini3, never);
    const chunks = await collect(connect().stream(gemini3, never));

    expect(whole.parts).toEqual(answer);
    expect(chunks.flatMap((chunk) => chunk.parts)).toEqual(answer);
    expect(whole.usage?.thoughtsTokens).toBe(2);
  });
});

describe('a request', () => {
  test.each(['gemini', 'vertex'])(
    'a request can forbid calls of its declared tools on the %s API',
    async (api) => {
      const vertex = { project: 'demo', location: 'europe-west1' };
      const tools = [{ name: 'find', parametersJsonSchema: { type: 'object' } }];
      const asked = { ...request, tools, toolChoice: 'none' as const };

      await connect(api === 'vertex' ? { vertex } : {}).generate(asked, never);

      expect(fakeGemini.requestBody(1)).toMatchObject({
        contents,
        tools: [{ functionDeclarations: tools }],
        toolConfig: { functionCallingConfig: { mode: 'NONE' } },
      });
    },
  );

  test('a request has no tool config where it has no tools or allows calls', async () => {
    await connect().generate({ ...request, toolChoice: 'none' }, never);
    await connect().generate({ ...request, tools: [{ name: 'find' }] }, never);

    expect(fakeGemini.requestBody(1)).not.toHaveProperty('toolConfig');
    expect(fakeGemini.requestBody(2)).not.toHaveProperty('toolConfig');
  });

  test('a model request carries system instruction, tools, limits and schema', async () => {
    await connect().generate(
      {
        ...request,
        systemInstruction: 'Be brief.',
        tools: [{ name: 'find', description: 'Finds.', parametersJsonSchema: { type: 'object' } }],
        maxOutputTokens: 64,
        responseJsonSchema: { type: 'object', properties: {} },
      },
      never,
    );

    expect(fakeGemini.requestBody(1)).toEqual({
      contents,
      systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] },
      tools: [
        {
          functionDeclarations: [
            { name: 'find', description: 'Finds.', parametersJsonSchema: { type: 'object' } },
          ],
        },
      ],
      generationConfig: {
        maxOutputTokens: 64,
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'object', properties: {} },
      },
    });
  });
});
