import { describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import {
  answeringModel,
  callCostMicros,
  modelCatalog,
  summarisingModel,
} from '#functions/models/models-in-use.ts';
import { afterShutdown } from '#test/support/retired-models.ts';

const demo = parseConfig({ GOOGLE_CLOUD_PROJECT: 'demo-recap' });
const call = { promptTokens: 1_000_000, cachedTokens: 0, outputTokens: 0 };

describe('the models of a deployment', () => {
  test.each([
    ['Vertex AI, where there is no key', {}, 'vertex'],
    ['the Gemini API, where there is one', { GEMINI_API_KEY: 'key' }, 'geminiApi'],
    ['another server as the Gemini API', { GEMINI_BASE_URL: 'http://127.0.0.1:1' }, 'geminiApi'],
    ['a demo project as the Gemini API', { isDemo: true }, 'geminiApi'],
  ])('the models of a deployment are those of %s', (_, changes, platform) => {
    expect(modelCatalog({ ...demo, isDemo: false, ...changes }).platform).toBe(platform);
  });

  test('the models of a deployment are retired on their platform’s day', () => {
    const between = new Date('2026-11-23');
    const { config } = afterShutdown(demo, between);

    expect(answeringModel(config, 'gemini-2.5-pro')).toBe('gemini-2.5-pro');
    expect(answeringModel({ ...config, isDemo: false }, 'gemini-2.5-pro')).toBe('gemini-3.8-flash');
  });

  test.each([
    ['itself where the deployment names no summariser', 'house-model', undefined, 'house-model'],
    [
      'the deployment’s summariser, even a dearer one',
      'gemini-3.8-flash',
      'gemini-4-neon',
      'gemini-4-neon',
    ],
    ['its successor where it is retired', 'gemini-2.5-flash', undefined, 'gemini-3.5-flash-lite'],
    ['the successor of a retired summariser', 'house-model', 'gemini-2.5-pro', 'gemini-3.8-flash'],
  ])('a conversation is summarised by %s', (...[, model, COMPRESSOR_MODEL, summariser]) => {
    const { config } = afterShutdown({ ...demo, COMPRESSOR_MODEL });

    expect(summarisingModel(config, model)).toBe(summariser);
  });
});

describe('a call of a model without a price', () => {
  test('a model without a price is billed at the highest, with one warning per model', () => {
    const { config, warned } = afterShutdown(demo);

    const costs = ['one', 'one', 'other'].map((model) =>
      callCostMicros(config, { ...call, model }),
    );

    expect(costs).toEqual([4_000_000, 4_000_000, 4_000_000]);
    expect(warned).toEqual(
      ['one', 'other'].map((model) => ({
        severity: 'WARNING',
        event: 'model_without_price',
        fields: { model },
      })),
    );
  });
});
