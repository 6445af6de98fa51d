import { expect, test } from 'vitest';
import { toModelResponse } from '#functions/adapters/gemini/gemini-response.ts';

const call = { operation: 'stream', model: 'gemini-3.8-flash', promptId: 't_1' } as const;
const read = (response: unknown) => toModelResponse(call, response);
const parts = (...sent: unknown[]) => ({ candidates: [{ content: { parts: sent } }] });

test.each<[string, unknown, unknown[]]>([
  [
    'arguments that are a list',
    { functionCall: { name: 'a', args: [1] } },
    [{ functionCall: { name: 'a', args: { value: [1] } } }],
  ],
  [
    'arguments that are null',
    { functionCall: { name: 'a', args: null } },
    [{ functionCall: { name: 'a', args: {} } }],
  ],
  ['a call without a name', { text: 'b', functionCall: { args: {} } }, [{ text: 'b' }]],
  ['a text that is a number', { text: 5, thoughtSignature: 'c' }, [{ thoughtSignature: 'c' }]],
  ['a field that nobody knows', { text: 'a', x: [1] }, [{ text: 'a', x: [1] }]],
  ['a part that is none', 'a', []],
])('a Gemini response is read as far as possible: %s', (_, sent, expected) => {
  expect(read(parts(sent)).parts).toEqual(expected);
});

test.each<[unknown, unknown]>([
  [5, undefined],
  [{ promptTokenCount: 'many' }, undefined],
  [
    { promptTokenCount: 7, candidatesTokenCount: {} },
    { promptTokens: 7, cachedTokens: 0, outputTokens: 0, thoughtsTokens: 0 },
  ],
])('a Gemini response reports only valid numbers as usage: %j', (usageMetadata, usage) => {
  expect(read({ usageMetadata }).usage).toEqual(usage);
});

test.each<[string, Record<string, unknown>]>([
  ['text', parts({ text: 'a' }, { text: 'b' })],
  ['parts of all kinds', parts({ text: 'a', thought: true }, 5, { functionCall: { name: 'a' } })],
  ['no parts', { candidates: [{ content: { role: 'model' }, index: 0, finishReason: 'STOP' }] }],
  ['figures', { ...parts({ text: 'a' }), usageMetadata: { promptTokenCount: 7, x: 1 } }],
  ['null as a figure', { ...parts({ text: 'a' }), usageMetadata: { promptTokenCount: null } }],
  ['null as figures', { ...parts({ text: 'a' }), usageMetadata: null }],
  ['null as candidates', { candidates: null, usageMetadata: { promptTokenCount: 7 } }],
  ['null as a reason', { candidates: [{ content: { parts: [] }, finishReason: null }] }],
])('a Gemini response is read the same beside a report on its prompt: %s', (_, sent) => {
  expect(read(sent)).toEqual(read({ ...sent, promptFeedback: {} }));
});

test.each<[string, object, object]>([
  ['its bytes', { startIndex: 32 }, { startByte: 32 }],
  ['none, as a zero is left out', {}, { startByte: 0 }],
  ['no number', { startIndex: null }, {}],
  ['a place in a later part', { startIndex: 32, partIndex: 1 }, {}],
])('a cited passage of a Gemini response with %s', (_, place, expected) => {
  const segment = { text: 'a', ...place };
  const groundingMetadata = {
    groundingChunks: [{ web: { uri: 'https://example.com/' } }],
    groundingSupports: [{ segment, groundingChunkIndices: [0] }],
  };

  expect(read({ candidates: [{ groundingMetadata }] }).grounding?.sources).toEqual([
    { url: 'https://example.com/', title: undefined, claims: [{ text: 'a', ...expected }] },
  ]);
});
