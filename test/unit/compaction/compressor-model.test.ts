import { expect, test } from 'vitest';
import { compressorModel } from '../../../shared/compaction/compressor-model.ts';

test.each([
  ['gemini-3-pro-preview', 'gemini-3-pro-preview'],
  ['gemini-3.1-pro-preview', 'gemini-3-pro-preview'],
  ['gemini-3.1-pro-preview-customtools', 'gemini-3-pro-preview'],
  ['gemini-3-flash-preview', 'gemini-3-flash-preview'],
  ['gemini-3.1-flash-lite', 'gemini-3.1-flash-lite'],
  ['gemini-2.5-pro', 'gemini-2.5-pro'],
  ['models/gemini-2.5-pro-preview-03-25', 'gemini-2.5-pro'],
  ['gemini-2.5-flash', 'gemini-2.5-flash'],
  ['publishers/google/models/gemini-2.5-flash-001', 'gemini-2.5-flash'],
  ['gemini-2.5-flash-lite', 'gemini-2.5-flash-lite'],
  ['gemini-2.5-flash-lite-preview-09-2025', 'gemini-2.5-flash-lite'],
  ['gemini-3-pro-image-preview', 'the-default'],
  ['gemini-2.5-flash-image', 'the-default'],
  ['gemini-2.0-flash', 'the-default'],
  ['gemini-3', 'the-default'],
  ['', 'the-default'],
])('a conversation with %s is summarised by %s', (model, compressor) => {
  expect(compressorModel(model, 'the-default')).toBe(compressor);
});

test('the default is the one of Gemini CLI', () => {
  expect(compressorModel('some-model')).toBe('gemini-3-pro-preview');
});
