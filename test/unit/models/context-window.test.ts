import { contextWindowTokens } from '#shared/models/known-models.ts';
import { describe, expect, test } from 'vitest';

describe('contextWindowTokens', () => {
  test.each([
    ['gemini-1.5-pro', 2_097_152],
    ['models/gemini-1.5-pro-002', 2_097_152],
    ['gemini-1.5-flash', 1_048_576],
    ['gemini-2.5-pro', 1_048_576],
    ['gemini-3-flash-preview', 1_048_576],
    ['gemma-4-31b-it', 256_000],
    ['gemma-4-26B', 256_000],
    ['gemma-3-27b-it', 131_072],
    ['gemma-3-1b-it', 32_768],
    ['gemma-3-270m-it', 32_768],
    ['gemma-3n-e4b-it', 32_768],
    ['gemma-2-27b-it', 8_192],
    ['gemma-2b-it', 8_192],
    ['something-else', 1_048_576],
    ['', 1_048_576],
  ])('contextWindowTokens of %s is %i', (model, tokens) => {
    expect(contextWindowTokens(model)).toBe(tokens);
  });

  test('contextWindowTokens prefers an exact id to a prefix, and longer prefixes', () => {
    const overrides = { 'gemini-*': 1_000, 'gemini-2.5-*': 2_000, 'gemini-2.5-pro': 3_000 };

    expect(contextWindowTokens('models/gemini-2.5-pro', overrides)).toBe(3_000);
    expect(contextWindowTokens('gemini-2.5-flash', overrides)).toBe(2_000);
    expect(contextWindowTokens('gemini-3-pro-preview', overrides)).toBe(1_000);
  });

  test('contextWindowTokens treats an id without star as no prefix', () => {
    expect(contextWindowTokens('gemini-2.5-flash-lite', { 'gemini-2.5-flash': 5 })).toBe(1_048_576);
  });
});
