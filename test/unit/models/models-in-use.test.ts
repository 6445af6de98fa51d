import { describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import { callCostMicros, modelCatalog } from '#functions/models/models-in-use.ts';
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
