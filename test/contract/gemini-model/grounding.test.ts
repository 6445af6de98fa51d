import { hash } from 'node:crypto';
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

/** The next answer to `text`, and what its candidate says of Google's tools. */
const register = (text: string, answer: string, metadata: object, toolTokens?: number) =>
  fakeGemini.registerAnswers({
    userHash: hash('sha256', text),
    ordinal: 1,
    contents: [{ role: 'model', parts: [{ text: answer }] }],
    metadata: { ...metadata },
    toolTokens,
  });

describeWithEachReader('Google’s tools at a Gemini model', () => {
  test('a search comes with the pages, the passages that they bear out, its queries and the suggestions', async () => {
    const won = 'España won Euro 2024.';
    const place = 'The final was in Berlin.';
    register('Who won?', `${won}\n${place}`, {
      groundingMetadata: {
        webSearchQueries: ['who won Euro 2024'],
        searchEntryPoint: { renderedContent: '<div class="chips">who won Euro 2024</div>' },
        groundingChunks: [
          { web: { uri: 'https://uefa.com/euro', title: 'uefa.com' } },
          { web: { uri: 'https://example.org/', title: 'example.org' } },
        ],
        groundingSupports: [
          { segment: { startIndex: 0, endIndex: 22, text: won }, groundingChunkIndices: [0] },
          { segment: { startIndex: 23, endIndex: 47, text: place }, groundingChunkIndices: [1] },
        ],
      },
    });

    const chunks = await collect(connect().stream(asking('Who won?'), never));

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
    const urlMetadata = [
      { retrievedUrl: 'https://example.com/a', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
      {
        retrievedUrl: 'https://unreachable.example/b',
        urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_ERROR',
      },
    ];
    register(text, 'The page was read.', { urlContextMetadata: { urlMetadata } }, 7);

    const chunks = await collect(connect().stream(asking(text), never));

    expect(reported(chunks)?.sources.map(({ url }) => url)).toEqual(['https://example.com/a']);
    expect(chunks.at(-1)?.usage?.toolTokens).toBe(7);
  });

  test('Google’s tools stand beside functions on the Gemini API, and their calls are shown', async () => {
    const call = { id: 'search-1', toolType: 'GOOGLE_SEARCH_WEB' };
    fakeGemini.registerAnswers({
      userHash: hash('sha256', 'Euro?'),
      ordinal: 1,
      contents: [{ role: 'model', parts: [{ toolCall: call }, { text: 'España.' }] }],
    });

    const chunks = await collect(
      connect().stream(asking('Euro?', { tools, toolChoice: 'none' }), never),
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
    await collect(connect().stream(asking('Euro?', { grounding: undefined }), never));

    expect(Object.keys(fakeGemini.requestBody(1) ?? {})).not.toContain('toolConfig');
    expect(Object.keys(fakeGemini.requestBody(1) ?? {})).not.toContain('tools');
  });

  test('an answer is whole whose report of its sources cannot be read', async () => {
    const groundingChunks = [{ web: { uri: 'javascript:alert(1)', title: 'x' } }];
    register('Euro?', 'A bad page says this.', { groundingMetadata: { groundingChunks } });

    const chunks = await collect(connect().stream(asking('Euro?'), never));

    expect(reported(chunks)?.sources).toEqual([]);
    expect(chunks.at(-1)?.finishReason).toBe('STOP');
  });
});
