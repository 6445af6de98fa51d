import { contextWindowTokens, readRemoteModels } from '#shared/models/known-models.ts';
import {
  modelInService,
  hasSuccessorLoop,
  findModel,
  type ModelTable,
  type Platform,
  modelEntrySchema,
} from '#shared/models/model-entry.ts';
import { environmentSchema } from '#functions/config/environment.ts';
import { knownPrice, findPrice, costMicros, dearestPrice } from '#shared/models/find-price.ts';
import { modelRegistry } from '#shared/models/model-registry.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { describe, expect, test } from 'vitest';

test.each([
  ['gemini-1.5-pro', 2_097_152],
  ['models/gemini-1.5-pro-002', 2_097_152],
  ['gemini-2.5-pro', 1_048_576],
  ['gemini-3-flash-preview', 1_048_576],
  ['gemma-4-31b-it', 256_000],
  ['gemma-3-27b-it', 131_072],
  ['gemma-3-1b-it', 32_768],
  ['gemma-3n-e4b-it', 32_768],
  ['gemma-2-27b-it', 8_192],
  ['something-else', 1_048_576],
  ['', 1_048_576],
])('contextWindowTokens of %s is %i', (model, tokens) => {
  expect(contextWindowTokens(model)).toBe(tokens);
});

const rates = { input: 1, cached: 0.1, output: 2 };

test('a remote document changes the price of a model and nothing else', () => {
  const { models, unusable } = readRemoteModels({
    'gemini-3.5-flash': { prices: [{ from: '2026-11-01', rates }] },
  });

  expect(unusable).toEqual([]);
  expect(knownPrice('gemini-3.5-flash', { ...verifiedModels, models })).toEqual(rates);
  expect(findModel(models, 'gemini-3.5-flash')?.windowTokens).toBe(1_048_576);
});

test('remote models are read one by one: invalid ones are named, and others apply', () => {
  const { models, unusable } = readRemoteModels({
    'gemini-9-pro': { windowTokens: 5_000 },
    'a-price-below-zero': { prices: [{ from: '2026-11-01', rates: { ...rates, input: -1 } }] },
    'no-day': { prices: [{ from: 'tomorrow', rates }] },
    'a-mistyped-field': { window: 5_000 },
    'no-object': 7,
    'its-own-successor': {
      retirement: { geminiApi: '2026-11-01', successor: 'its-own-successor' },
    },
  });

  expect(findModel(models, 'gemini-9-pro')).toEqual({ windowTokens: 5_000 });
  expect(unusable).toEqual([
    'models.a-price-below-zero',
    'models.no-day',
    'models.a-mistyped-field',
    'models.no-object',
    'models.its-own-successor',
  ]);
});

test.each([
  ['absent', undefined, []],
  ['null', null, []],
  ['a list', ['gemini'], ['models']],
  [
    'more entries than anybody means',
    Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`m${i}`, {}])),
    ['models'],
  ],
])('remote models that are %s leave the registry unchanged', (_, value, unusable) => {
  expect(readRemoteModels(value)).toEqual({ models: modelRegistry, unusable });
});

const models: ModelTable = {
  first: { retirement: { geminiApi: '2026-03-01', vertex: '2026-02-01', successor: 'second' } },
  second: { retirement: { geminiApi: '2026-06-01', successor: 'third' } },
  third: {},
  'third-preview': { retirement: { geminiApi: '2026-01-01', successor: 'third' } },
};

const at = (day: string, platform: Platform = 'geminiApi') => ({
  models,
  platform,
  now: new Date(day),
});

test.each([
  ['first', '2026-02-28T23:59:59.999Z', 'first'],
  ['first', '2026-03-01T00:00:00.000Z', 'second'],
  ['models/first', '2026-03-01', 'second'],
  ['first', '2026-06-01', 'third'],
  ['second', '2026-05-31', 'second'],
  ['third', '2030-01-01', 'third'],
  ['third-preview', '2026-01-01', 'third'],
  ['somebody-else’s', '2030-01-01', 'somebody-else’s'],
  ['auto', '2030-01-01', 'auto'],
])('the model called in place of %s on %s is %s', (model, day, called) => {
  expect(modelInService(model, at(day))).toBe(called);
});

test.each([
  ['first', '2026-01-31', 'first'],
  ['first', '2026-02-01', 'second'],
  ['first', '2030-01-01', 'second'],
])('the model called in place of %s on %s on Vertex AI is %s', (model, day, called) => {
  expect(modelInService(model, at(day, 'vertex'))).toBe(called);
});

const names = Object.keys(modelRegistry);
const platforms = ['geminiApi', 'vertex'] as const;

describe.each(names)('the entry of %s', (name) => {
  const { origin, ...entry } = modelRegistry[name] ?? { origin: '' };

  test('a registry entry names its origin and is valid in a remote document', () => {
    expect(modelEntrySchema.safeParse(entry).success).toBe(true);
    expect(origin).not.toBe('');
  });

  test('a registry entry leads to a known, priced model in service, on any day', () => {
    expect(hasSuccessorLoop(name, modelRegistry)).toBe(false);
    for (const platform of platforms) {
      const called = modelInService(name, {
        ...verifiedModels,
        platform,
        now: new Date('2099-01-01'),
      });
      const found = findModel(modelRegistry, called);
      expect(found).toBeDefined();
      // Gemma has no price where it is paid for.
      expect(found?.prices !== undefined || name.startsWith('gemma-')).toBe(true);
    }
  });
});

const defaults = environmentSchema.parse({ GOOGLE_CLOUD_PROJECT: 'p' });
const defaultModels = ['MODEL', 'QUICK_MODEL'] as const;

describe.each(defaultModels)('the default of %s', (variable) => {
  const model = defaults[variable];

  test('a default model is still in service today (if this fails, choose another)', () => {
    for (const platform of platforms)
      expect(modelInService(model, { ...verifiedModels, platform, now: new Date() })).toBe(model);
  });
});

const call = { promptTokens: 10_000, cachedTokens: 6_000, outputTokens: 1_000 };
const on = (day: string) => ({ ...verifiedModels, now: new Date(day) });

test.each([
  ['gemini-2.5-flash', 0.3, 2.5],
  ['models/gemini-2.5-flash', 0.3, 2.5],
  ['gemini-2.5-flash-001', 0.3, 2.5],
  ['gemini-2.5-flash-lite', 0.1, 0.4],
  ['gemini-3.1-pro-preview', 2, 12],
])('the price of a model: %s costs %d and %d', (model, input, output) => {
  expect(knownPrice(model, verifiedModels)).toMatchObject({ input, output });
});

test.each([
  ['2026-07-20', 1.5],
  ['2026-08-12', 1.5],
  ['2026-08-13', 0.75],
  ['2026-12-31T23:59:59.999Z', 0.75],
  ['2027-01-01', 1.5],
])('the price of a model on %s is the one of that day', (day, input) => {
  expect(knownPrice('gemini-3.6-flash', on(day))?.input).toBe(input);
});

test.each(['gemini-2.5-flash-image', 'gemini-2.5-flash-preview-tts', 'gemini-9-pro', 'claude', ''])(
  'an unknown model %j is billed at the highest price',
  (model) => {
    expect(knownPrice(model, verifiedModels)).toBeUndefined();
    expect(findPrice(model, verifiedModels)).toEqual(dearestPrice(verifiedModels));
  },
);

const flash = { model: 'gemini-2.5-flash', ...call };
const pro = { model: 'gemini-2.5-pro', cachedTokens: 0, outputTokens: 0 };

test.each([
  ['cached tokens cost less', flash, 1_200 + 180 + 2_500],
  ['nothing cached', { ...flash, cachedTokens: 0 }, 3_000 + 2_500],
  ['a prompt of 200,000 tokens costs the lower price', { ...pro, promptTokens: 200_000 }, 250_000],
  [
    'all tokens of a longer one cost the higher price',
    { ...pro, promptTokens: 200_001, outputTokens: 100 },
    Math.round(200_001 * 2.5 + 1_500),
  ],
  [
    'more cached tokens than prompt are no refund',
    { ...flash, promptTokens: 100, cachedTokens: 500, outputTokens: 0 },
    3,
  ],
  [
    'a model without a price costs what the dearest does',
    { ...call, model: 'gemini-9' },
    8 * 2_000 + 0.4 * 6_000 + 18 * 1_000,
  ],
])('the cost of a call in millionths of a dollar: %s', (_, priced, expected) => {
  expect(costMicros(priced, verifiedModels)).toBe(expected);
});
