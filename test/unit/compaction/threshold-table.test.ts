import { isUsableNumber, numberFields } from '#shared/compaction/policy-settings.ts';
import { resolvePolicy } from '#shared/compaction/policy.ts';
import {
  findRow,
  thresholdRowsSchema,
  thresholdTable,
} from '#shared/compaction/threshold-table.ts';
import { contextWindowTokens } from '#shared/models/context-window.ts';
import { describe, expect, test } from 'vitest';

const thresholdOf = (model: string, profile: string) => {
  const { softThresholdTokens, thresholdLevel } = resolvePolicy({ model, profile });
  return [softThresholdTokens, thresholdLevel];
};

describe('the table of thresholds', () => {
  test.each<[string, string, number, string]>([
    ['gemini-2.5-flash', 'coding', 48_000, 'table'],
    ['models/gemini-3.1-pro-preview', 'coding', 48_000, 'table'],
    ['publishers/google/models/gemini-9-flash', 'coding', 48_000, 'table'],
    ['gemini-2.5-flash', 'assistant', 24_000, 'default'],
    ['gemini-2.5-flash', 'gemini-cli', 524_288, 'default'],
    ['gemma-4-31b-it', 'assistant', 12_000, 'table'],
    ['gemma-3-27b-it', 'coding', 16_000, 'table'],
    ['gemma-3-1b-it', 'assistant', 8_192, 'table'],
    ['gemma-3-1b-it', 'coding', 8_192, 'table'],
    ['gemma-2-9b-it', 'assistant', 2_048, 'table'],
    ['gemma-3-27b-it', 'gemini-cli', 65_536, 'default'],
    ['something-else', 'coding', 24_000, 'default'],
  ])(
    'the threshold table for %s in the profile %s has %i, from the level %s',
    (...[model, profile, tokens, level]) => {
      expect(thresholdOf(model, profile)).toEqual([tokens, level]);
    },
  );

  test.each(thresholdTable)(
    'the threshold table row for $modelPrefix $profile is usable and has a reason',
    (row) => {
      const unusable = numberFields.filter((field) => {
        const value = row.settings[field];
        return value !== undefined && !isUsableNumber(field, value);
      });

      expect(unusable).toEqual([]);
      expect(row.reason.length).toBeGreaterThan(20);
      expect(row.source.length).toBeGreaterThan(20);
    },
  );

  test('no threshold table row follows one that covers it', () => {
    for (const [index, row] of thresholdTable.entries()) {
      const wanted = { model: row.modelPrefix ?? '', profile: row.profile ?? '' };
      expect(thresholdTable.indexOf(findRow(thresholdTable, wanted) ?? row)).toBe(index);
    }
  });

  test.each(['gemma-2-9b-it', 'gemma-3-1b-it', 'gemma-3-27b-it', 'gemma-4-31b-it'])(
    'the hard threshold of %s leaves half of its window to instruction and answer',
    (model) => {
      const { hardThresholdTokens } = resolvePolicy({ model, profile: 'coding' });

      expect(hardThresholdTokens).toBeLessThanOrEqual(contextWindowTokens(model) / 2);
    },
  );
});

describe('rows of a deployment', () => {
  const rows = thresholdRowsSchema.parse({
    '/coding': { thresholdTokens: 30_000 },
    'gemini-': { thresholdTokens: 10_000 },
    'gemini-2.5-pro': { thresholdTokens: 20_000 },
    'gemini-2.5-pro/coding': { thresholdTokens: 64_000, tailTokens: 10_000 },
  });

  test.each<[string, string, number]>([
    ['gemini-2.5-pro', 'coding', 64_000],
    ['models/gemini-2.5-pro-001', 'coding', 64_000],
    ['gemini-2.5-pro', 'assistant', 20_000],
    ['gemini-2.5-flash', 'coding', 10_000],
    ['gemma-3-27b-it', 'coding', 30_000],
    ['gemma-3-27b-it', 'assistant', 12_000],
  ])('deployment rows precede shipped ones: %s in %s has %i', (model, profile, tokens) => {
    const policy = resolvePolicy({ model, profile, table: rows });

    expect([policy.softThresholdTokens, policy.thresholdLevel]).toEqual([tokens, 'table']);
  });

  test.each<[string, unknown]>([
    ['a profile that there is not', { '/writer': { thresholdTokens: 1_000 } }],
    ['a threshold of 0', { 'gemini-': { thresholdTokens: 0 } }],
    ['a setting that no row has', { 'gemini-': { breakerFailures: 2 } }],
    ['a star', { 'gemini-*': { thresholdTokens: 1_000 } }],
  ])('a deployment’s threshold row is refused: %s', (_, given) => {
    expect(thresholdRowsSchema.safeParse(given).success).toBe(false);
  });
});
