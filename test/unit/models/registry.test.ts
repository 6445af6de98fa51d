import { describe, expect, test } from 'vitest';
import { environmentSchema } from '#functions/config/environment.ts';
import { findModel, modelEntrySchema } from '#shared/models/model-entry.ts';
import { findPrice } from '#shared/models/find-price.ts';
import { registry, VERIFIED_ON } from '#shared/models/registry.ts';
import { hasSuccessorLoop, modelInService } from '#shared/models/retirement.ts';
import { verifiedModels } from '#test/support/verified-models.ts';

const names = Object.keys(registry);
const platforms = ['geminiApi', 'vertex'] as const;

describe.each(names)('the entry of %s', (name) => {
  const { origin, ...entry } = registry[name] ?? { origin: '' };

  test('is what a remote document may say, too, and names its origin', () => {
    expect(modelEntrySchema.safeParse(entry).success).toBe(true);
    expect(origin).not.toBe('');
  });

  test('leads to a model that is in service, known and priced, whenever that is', () => {
    expect(hasSuccessorLoop(name, registry)).toBe(false);
    for (const platform of platforms) {
      const called = modelInService(name, {
        ...verifiedModels,
        platform,
        now: new Date('2099-01-01'),
      });
      const found = findModel(registry, called);
      expect(found).toBeDefined();
      // Gemma has no price where it is paid for.
      expect(found?.prices !== undefined || name.startsWith('gemma-')).toBe(true);
    }
  });

  test('has prices in the order of their days', () => {
    const days = (entry.prices ?? []).map(({ from }) => from);

    expect(days).toEqual([...new Set(days)].toSorted());
  });
});

const defaults = environmentSchema.parse({ GOOGLE_CLOUD_PROJECT: 'p' });
const defaultModels = [
  'MODEL',
  'COMPRESSOR_MODEL',
  'TITLE_MODEL',
  'CONDENSING_MODEL',
  'ROUTING_CLASSIFIER_MODEL',
] as const;

describe.each(defaultModels)('the default of %s', (variable) => {
  const model = defaults[variable];

  test('was in service and had a price when the registry was verified', () => {
    for (const platform of platforms)
      expect(modelInService(model, { ...verifiedModels, platform })).toBe(model);
    expect(findPrice(model, verifiedModels)).toBe(findModel(registry, model)?.prices?.[0]?.rates);
  });

  test('is in service by the real clock: if this fails, choose another default, for the day has come', () => {
    for (const platform of platforms)
      expect(modelInService(model, { ...verifiedModels, platform, now: new Date() })).toBe(model);
  });
});

test('the registry was verified on a day', () => {
  expect(VERIFIED_ON).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});
