import { environmentSchema } from '#functions/config/environment.ts';
import { findPrice } from '#shared/models/find-price.ts';
import {
  findModel,
  modelEntrySchema,
  hasSuccessorLoop,
  modelInService,
} from '#shared/models/model-entry.ts';
import { registry } from '#shared/models/registry.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { describe, expect, test } from 'vitest';

const names = Object.keys(registry);
const platforms = ['geminiApi', 'vertex'] as const;

describe.each(names)('the entry of %s', (name) => {
  const { origin, ...entry } = registry[name] ?? { origin: '' };

  test('a registry entry names its origin and is valid in a remote document', () => {
    expect(modelEntrySchema.safeParse(entry).success).toBe(true);
    expect(origin).not.toBe('');
  });

  test('a registry entry leads to a known, priced model in service, on any day', () => {
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

  test('a registry entry has prices in the order of their days', () => {
    const days = (entry.prices ?? []).map(({ from }) => from);

    expect(days).toEqual([...new Set(days)].toSorted());
  });
});

const defaults = environmentSchema.parse({ GOOGLE_CLOUD_PROJECT: 'p' });
const defaultModels = ['MODEL', 'QUICK_MODEL'] as const;

describe.each(defaultModels)('the default of %s', (variable) => {
  const model = defaults[variable];

  test('a default model was in service and priced when the registry was verified', () => {
    for (const platform of platforms)
      expect(modelInService(model, { ...verifiedModels, platform })).toBe(model);
    expect(findPrice(model, verifiedModels)).toBe(findModel(registry, model)?.prices?.[0]?.rates);
  });

  test('a default model is still in service today (if this fails, choose another)', () => {
    for (const platform of platforms)
      expect(modelInService(model, { ...verifiedModels, platform, now: new Date() })).toBe(model);
  });
});
