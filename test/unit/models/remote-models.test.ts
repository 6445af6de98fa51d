import { knownPrice } from '#shared/models/find-price.ts';
import { readRemoteModels } from '#shared/models/known-models.ts';
import { findModel, modelInService } from '#shared/models/model-entry.ts';
import { registry } from '#shared/models/registry.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { describe, expect, test } from 'vitest';

const rates = { input: 1, cached: 0.1, output: 2 };

describe('models of a remote document', () => {
  test('a remote document changes the price of a model and nothing else', () => {
    const { models, unusable } = readRemoteModels({
      'gemini-3.5-flash': { prices: [{ from: '2026-11-01', rates }] },
    });

    expect(unusable).toEqual([]);
    expect(knownPrice('gemini-3.5-flash', { ...verifiedModels, models })).toEqual(rates);
    expect(findModel(models, 'gemini-3.5-flash')?.windowTokens).toBe(1_048_576);
  });

  test('a remote document reverts a retirement', () => {
    const { models } = readRemoteModels({ 'gemini-2.0-flash': { retirement: null } });

    expect(modelInService('gemini-2.0-flash', { ...verifiedModels, models })).toBe(
      'gemini-2.0-flash',
    );
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
    ['a text', 'gemini', ['models']],
    [
      'more entries than anybody means',
      Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`m${i}`, {}])),
      ['models'],
    ],
  ])('remote models that are %s leave the registry unchanged', (_, value, unusable) => {
    expect(readRemoteModels(value)).toEqual({ models: registry, unusable });
  });
});
