import { describe, expect, test } from 'vitest';
import { environmentSchema } from '#functions/config/environment.ts';
import { compressorModel, modelInService } from '#shared/models/retirement.ts';
import { findModel, type ModelCatalog } from '#shared/models/model-entry.ts';
import { isDearer, findPrice } from '#shared/models/find-price.ts';
import { registry, VERIFIED_ON } from '#shared/models/registry.ts';
import { verifiedModels } from '#test/support/verified-models.ts';

const fallback = 'gemini-3.1-pro-preview';

describe('the model that summarises', () => {
  test.each([
    ['gemini-3.5-flash', 'gemini-3.5-flash'],
    ['gemini-3.8-flash', 'gemini-3.8-flash'],
    ['gemini-3.1-pro-preview', 'gemini-3.1-pro-preview'],
    ['gemini-3.1-pro-preview-customtools', 'gemini-3.1-pro-preview'],
    ['gemini-3-pro-preview', 'gemini-3.1-pro-preview'],
    ['gemini-3-flash-preview', 'gemini-3-flash-preview'],
    ['gemini-3.1-flash-lite', 'gemini-3.1-flash-lite'],
    ['gemini-2.5-pro', 'gemini-2.5-pro'],
    ['models/gemini-2.5-pro-preview-03-25', 'gemini-3.1-pro-preview'],
    ['publishers/google/models/gemini-2.5-flash-001', 'gemini-2.5-flash'],
    ['gemini-2.5-flash-lite-preview-09-2025', 'gemini-2.5-flash-lite'],
    ['gemini-2.0-flash', 'gemini-3.1-flash-lite'],
    ['gemini-3-pro-image-preview', fallback],
    ['gemma-3-27b-it', fallback],
    ['', fallback],
  ])('a conversation with %j is summarised by %s', (model, compressor) => {
    expect(compressorModel({ model, fallback }, verifiedModels)).toBe(compressor);
  });

  test.each<[string, { model: string; catalog: Partial<ModelCatalog>; expected: string }]>([
    [
      'a default that is dearer than the conversation’s model is not used',
      {
        model: 'house-model',
        catalog: { prices: { 'house-model': { input: 0.1, cached: 0, output: 0.1 } } },
        expected: 'house-model',
      },
    ],
    [
      'a default that costs the same is used',
      {
        model: 'house-model',
        catalog: { prices: { 'house-model': { input: 2, cached: 0, output: 12 } } },
        expected: fallback,
      },
    ],
    [
      'an entry’s compressor that is dearer is not used',
      {
        model: 'gemini-3.5-flash',
        catalog: {
          models: {
            ...registry,
            'gemini-3.5-flash': { ...registry['gemini-3.5-flash'], compressor: 'gemini-3.1-pro' },
          },
        },
        expected: 'gemini-3.5-flash',
      },
    ],
    [
      'a retired model is summarised by its successor',
      {
        model: 'gemini-2.5-flash',
        catalog: { now: new Date('2026-12-01') },
        expected: 'gemini-3.5-flash-lite',
      },
    ],
  ])('the model that summarises: %s', (_, { model, catalog, expected }) => {
    expect(compressorModel({ model, fallback }, { ...verifiedModels, ...catalog })).toBe(expected);
  });
});

/** Flash-Lite, Flash or Pro. */
const line = (model: string) => /flash-lite|flash|pro/.exec(model)?.[0];

/** Every day from the verification on that changes a price or retires a model. */
const days = Object.values(registry)
  .flatMap(({ prices = [], retirement }) => [
    ...prices.map(({ from }) => from),
    retirement?.geminiApi,
    retirement?.vertex,
  ])
  .filter((day): day is string => day !== undefined && day > VERIFIED_ON);

const catalogs = [VERIFIED_ON, ...new Set(days)].flatMap((day) =>
  (['geminiApi', 'vertex'] as const).map((platform) => ({
    ...verifiedModels,
    now: new Date(day),
    platform,
  })),
);

test.each(Object.keys(registry).filter((name) => name.startsWith('gemini-')))(
  '%s is summarised within its family by a cheaper model in service, on any day',
  (model) => {
    for (const catalog of catalogs) {
      const own = modelInService(model, catalog);
      const compressor = compressorModel({ model, fallback }, catalog);

      expect(line(compressor)).toBe(line(own));
      expect(modelInService(compressor, catalog)).toBe(compressor);
      expect(isDearer(findPrice(compressor, catalog), findPrice(own, catalog))).toBe(false);
    }
  },
);

test('the shipped default model is not summarised by a dearer one', () => {
  const { MODEL, COMPRESSOR_MODEL } = environmentSchema.parse({ GOOGLE_CLOUD_PROJECT: 'p' });

  const compressor = compressorModel({ model: MODEL, fallback: COMPRESSOR_MODEL }, verifiedModels);

  expect(findModel(registry, MODEL)?.compressor).toBe(compressor);
});
