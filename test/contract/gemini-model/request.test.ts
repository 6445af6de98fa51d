import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { signPart } from '#infra/fake-gemini/server/refusals.ts';
import type { Content } from '#shared/models/content.ts';
import type { ModelRequest, Prompt } from '#shared/ports/ports.ts';
import { contents, never, request, startModel } from '#test/support/gemini-model-calls.ts';

/* What the adapter sends to Google. */

const apis = [
  { api: 'gemini', options: {} },
  { api: 'vertex', options: { vertex: { project: 'demo', location: 'europe-west1' } } },
];
const tools = [{ name: 'find', description: 'Finds.', parametersJsonSchema: { type: 'object' } }];

describe.concurrent('a request', () => {
  test.for(apis)(
    'a request to the $api API carries contents as they are, unknown fields included, and all settings',
    async ({ api, options }, context) => {
      const { fakeGemini, model } = await startModel(context, options);
      const functionCall = { name: 'find', args: { code: 1 }, id: 'f1' };
      const sent: Content[] = [
        { role: 'user', parts: [{ text: 'Find.' }] },
        {
          role: 'model',
          parts: [
            { text: 'thinking', thought: true },
            {
              functionCall,
              thoughtSignature: signPart('gemini-3.8-flash', { functionCall }),
              newField: { nested: [1, null] },
            },
          ],
        },
        {
          role: 'user',
          parts: [{ functionResponse: { name: 'find', response: { code: 1 }, other: true } }],
        },
      ];

      await model.generate(
        {
          model: 'gemini-3.8-flash',
          role: 'chat',
          promptId: 'r1-verify é',
          contents: sent,
          systemInstruction: 'Be brief.',
          tools,
          toolChoice: 'none',
          maxOutputTokens: 64,
          responseJsonSchema: { type: 'object', properties: {} },
          sampling: { temperature: 0.2, topP: 0.9, seed: 7, stopSequences: ['END'] },
        },
        never,
      );

      expect(fakeGemini.journal()[0]).toMatchObject({
        api,
        httpStatus: 200,
        role: 'chat',
        promptId: 'r1-verify__',
      });
      expect(fakeGemini.requestBody(1)).toEqual({
        contents: sent,
        systemInstruction: { role: 'user', parts: [{ text: 'Be brief.' }] },
        tools: [{ functionDeclarations: tools }],
        toolConfig: { functionCallingConfig: { mode: 'NONE' } },
        generationConfig: {
          maxOutputTokens: 64,
          responseMimeType: 'application/json',
          responseJsonSchema: { type: 'object', properties: {} },
          temperature: 0.2,
          topP: 0.9,
          seed: 7,
          stopSequences: ['END'],
        },
      });
    },
  );

  test.for<[string, Partial<ModelRequest>, object | undefined]>([
    ['a call', { tools, toolChoice: 'required' }, { functionCallingConfig: { mode: 'ANY' } }],
    [
      'a certain call',
      { tools, toolChoice: { name: 'find' } },
      { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['find'] } },
    ],
    ['nothing of tools that may be called', { tools }, undefined],
    ['nothing where there are no tools', { toolChoice: 'none' }, undefined],
    [
      'Google’s tools beside functions',
      { model: 'gemini-3.8-flash', tools, toolChoice: 'none', grounding: ['search', 'url'] },
      { includeServerSideToolInvocations: true, functionCallingConfig: { mode: 'NONE' } },
    ],
  ])('a request can demand %s', async ([, asked, toolConfig], context) => {
    const { fakeGemini, model } = await startModel(context);

    await model.generate({ ...request, ...asked }, never);

    const body = z.record(z.string(), z.unknown()).parse(fakeGemini.requestBody(1));
    expect(body['toolConfig']).toEqual(toolConfig);
    expect(body['tools']).toEqual(
      asked.tools && [
        { functionDeclarations: tools },
        ...(asked.grounding ? [{ googleSearch: {} }, { urlContext: {} }] : []),
      ],
    );
  });

  test.for([
    ['gemini-2.5-flash', 'low', { thinkingBudget: 1_024 }],
    ['gemini-2.5-pro', 'high', { thinkingBudget: 24_576 }],
    ['gemini-3.5-flash', 'minimal', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3.1-pro-preview', 'minimal', { thinkingLevel: 'LOW' }],
    ['gemini-4-argon', 'minimal', { thinkingLevel: 'LOW' }],
    ['gemini-4-argon', 'high', { thinkingLevel: 'HIGH' }],
  ] as const)(
    '%s is told to think %s in its own words',
    async ([name, thinkingLevel, thinkingConfig], context) => {
      const { fakeGemini, model } = await startModel(context);

      await model.generate({ ...request, model: name, sampling: { thinkingLevel } }, never);

      expect(fakeGemini.requestBody(1)).toMatchObject({ generationConfig: { thinkingConfig } });
    },
  );
});

describe.concurrent('countTokens', () => {
  const prompt: Prompt = {
    model: 'gemini-2.5-flash',
    systemInstruction: 'Be brief. 짧게.',
    tools,
    contents,
  };

  test.for(apis)(
    'countTokens counts on the $api API what a call with the same prompt reports, or its beginning alone',
    async ({ options }, context) => {
      const { model } = await startModel(context, options);

      const counted = await model.countTokens(prompt, never);
      const overhead = await model.countTokens({ ...prompt, contents: [] }, never);
      const { usage } = await model.generate({ ...request, ...prompt }, never);

      expect(counted).toBe(usage?.promptTokens);
      expect(overhead).toBeGreaterThan(10);
      expect(overhead).toBeLessThan(counted);
    },
  );

  test('countTokens of an empty prompt is 0 without a call', async (context) => {
    const { fakeGemini, model } = await startModel(context);

    expect(await model.countTokens({ model: 'gemini-2.5-flash', contents: [] }, never)).toBe(0);
    expect(fakeGemini.journal()).toHaveLength(0);
  });
});
