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

  test.each([
    ['required' as const, { mode: 'ANY' }],
    [{ name: 'find' }, { mode: 'ANY', allowedFunctionNames: ['find'] }],
  ])('a request can demand the call %o', async (toolChoice, functionCallingConfig) => {
    const tools = [{ name: 'find', parametersJsonSchema: { type: 'object' } }];

    await connect().generate({ ...request, tools, toolChoice }, never);

    expect(fakeGemini.requestBody(1)).toMatchObject({ toolConfig: { functionCallingConfig } });
  });

  test.each([
    ['gemini-2.5-flash', 'low', { thinkingBudget: 1_024 }],
    ['gemini-2.5-pro', 'high', { thinkingBudget: 24_576 }],
    ['gemini-3.5-flash', 'minimal', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3.1-pro-preview', 'minimal', { thinkingLevel: 'LOW' }],
    ['gemini-4-argon', 'minimal', { thinkingLevel: 'LOW' }],
    ['gemini-4-argon', 'high', { thinkingLevel: 'HIGH' }],
  ] as const)(
    '%s is told to think %s in its own words',
    async (model, thinkingLevel, thinkingConfig) => {
      const sampling = {
        temperature: 0.2,
        topP: 0.9,
        seed: 7,
        stopSequences: ['END'],
        thinkingLevel,
      };

      await connect().generate({ ...request, model, sampling }, never);

      expect(fakeGemini.requestBody(1)).toMatchObject({
        generationConfig: {
          temperature: 0.2,
          topP: 0.9,
          seed: 7,
          stopSequences: ['END'],
          thinkingConfig,
        },
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
