import {
  type ModelTable,
  type Platform,
  hasSuccessorLoop,
  modelInService,
} from '#shared/models/model-entry.ts';
import { describe, expect, test } from 'vitest';

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

describe('the model that is called', () => {
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

  test('the called model is found even where successors form a circle', () => {
    const circle: ModelTable = {
      one: { retirement: { geminiApi: '2026-01-01', successor: 'other' } },
      other: { retirement: { geminiApi: '2026-01-01', successor: 'one' } },
    };

    expect(modelInService('one', { ...at('2026-01-01'), models: circle })).toBe('one');
    expect(hasSuccessorLoop('one', circle)).toBe(true);
  });
});
