import { expect, test } from 'vitest';
import { addReport } from '#shared/grounding/bounded-report.ts';
import type { GroundingReport } from '#shared/grounding/grounding.ts';
import type { ModelChunk, ModelRequest } from '#shared/ports/ports.ts';
import {
  collect,
  connect,
  describeWithEachReader,
  fakeGemini,
  never,
  request,
  startFakeGeminiForEachTest,
} from '#test/support/gemini-model-calls.ts';

startFakeGeminiForEachTest();

const asking = (text: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  ...request,
  model: 'gemini-3.8-flash',
  contents: [{ role: 'user', parts: [{ text }] }],
  grounding: ['search', 'url'],
  ...more,
});

const tools = [{ name: 'find_boat', parametersJsonSchema: { type: 'object' } }];

const reported = (chunks: readonly ModelChunk[]) =>
  chunks.reduce<GroundingReport | undefined>(
    (sum, { grounding }) => (grounding ? addReport(sum, grounding) : sum),
    undefined,
  );

describeWithEachReader('Google’s tools at a Gemini model', () => {
  test('a search comes with the pages, the passages that they bear out, its queries and the suggestions', async () => {
    fakeGemini.setWeb(
      { url: 'https://uefa.com/euro', title: 'uefa.com', says: 'España won Euro 2024.' },
      { url: 'https://example.org/', title: 'example.org', says: 'The final was in Berlin.' },
    );

    const chunks = await collect(connect().stream(asking('search who won Euro 2024'), never));

    expect(reported(chunks)).toEqual({
      sources: [
        {
          url: 'https://uefa.com/euro',
          title: 'uefa.com',
          claims: [{ text: 'España won Euro 2024.', startByte: 0 }],
        },
        {
          url: 'https://example.org/',
          title: 'example.org',
          claims: [{ text: 'The final was in Berlin.', startByte: 23 }],
        },
      ],
      queries: ['who won Euro 2024'],
      suggestions: '<div class="chips">who won Euro 2024</div>',
    });
  });

  test('an address that was read is a source, one that could not be reached is none', async () => {
    const text = 'Compare https://example.com/a with https://unreachable.example/b';

    const chunks = await collect(connect().stream(asking(text), never));

    expect(reported(chunks)?.sources.map(({ url }) => url)).toEqual(['https://example.com/a']);
    expect(chunks.at(-1)?.usage?.toolTokens).toBeGreaterThan(0);
  });

  test('Google’s tools stand beside functions on the Gemini API, and their calls are shown', async () => {
    const chunks = await collect(
      connect().stream(asking('search euro', { tools, toolChoice: 'none' }), never),
    );

    expect(fakeGemini.requestBody(1)).toMatchObject({
      tools: [{ functionDeclarations: tools }, { googleSearch: {} }, { urlContext: {} }],
      toolConfig: {
        includeServerSideToolInvocations: true,
        functionCallingConfig: { mode: 'NONE' },
      },
    });
    expect(chunks.flatMap(({ parts }) => parts).some((part) => 'toolCall' in part)).toBe(true);
  });

  test('a request without Google’s tools is sent as it always was', async () => {
    await collect(connect().stream(asking('search euro', { grounding: undefined }), never));

    expect(Object.keys(fakeGemini.requestBody(1) ?? {})).not.toContain('toolConfig');
    expect(Object.keys(fakeGemini.requestBody(1) ?? {})).not.toContain('tools');
  });

  test('an answer is whole whose report of its sources cannot be read', async () => {
    fakeGemini.setWeb({ url: 'javascript:alert(1)', title: 'x', says: 'A bad page says this.' });

    const chunks = await collect(connect().stream(asking('search euro'), never));

    expect(reported(chunks)?.sources).toEqual([]);
    expect(chunks.at(-1)?.finishReason).toBe('STOP');
  });
});
