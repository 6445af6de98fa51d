import { describe, expect, test } from 'vitest';
import { extractFacts } from '#shared/compaction/facts/index/extract-facts.ts';
import { emptySnapshot } from '#shared/conversation/documents/snapshot.ts';
import { readingOf, sumReadings } from './eval-fading-score.ts';

const facts = extractFacts([
  {
    seq: 1,
    speaker: 'user',
    text: 'My order is QX-7719 and the other one is LK-2048.',
    at: new Date('2026-01-01T09:00:00Z'),
  },
]);
const archived = {
  ...emptySnapshot('assistant'),
  archive: [
    {
      id: 'i1',
      section: 'key_knowledge',
      text: 'The other order is LK-2048.',
      sources: [1],
      importance: 1,
      by: 'model' as const,
    },
  ],
};

describe('a reading of faded facts', () => {
  test('tells what the context says from what the archive holds', () => {
    const now = { statements: ['Order QX-7719.'], kept: [], history: { snapshot: archived } };

    expect(readingOf(facts, now)).toEqual({ facts: 2, held: 1, reachable: 2 });
  });

  test('holds nothing where there is nothing', () => {
    const now = { statements: [], kept: [], history: { snapshot: null } };

    expect(readingOf(facts, now)).toEqual({ facts: 2, held: 0, reachable: 0 });
  });

  test('adds up with others and with none', () => {
    const one = { facts: 2, held: 1, reachable: 2 };

    expect(sumReadings([one, undefined, one])).toEqual({ facts: 4, held: 2, reachable: 4 });
    expect(sumReadings([undefined])).toBeUndefined();
  });
});
