import { describe, expect, test } from 'vitest';
import { citationsFor, withCitations } from '#shared/grounding/cite-statements.ts';
import type { Citation } from '#shared/grounding/citation.ts';
import {
  emptySnapshot,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';

const item = (text: string, ...sources: number[]): Item => ({
  id: 'i1',
  text,
  sources,
  importance: 2,
  by: 'model',
});

const citation = (id: string, ...claims: string[]): Citation => ({
  id,
  seq: Number(id.slice(1, id.indexOf('.'))),
  url: `https://example.com/${id}`,
  claims,
});

const holding = (...items: Item[]): Snapshot => ({
  ...emptySnapshot('assistant'),
  sections: { key_knowledge: items },
});

describe('sources of statements', () => {
  test.each([
    ['in the words of the answer', 'Spain won Euro 2024 against England.'],
    [
      'in a note of several subjects',
      '2024: Spain beat England, won Euro 2024; Lisbon trip booked',
    ],
  ])('a statement is borne out by a source whose passage tells the same %s', (_, text) => {
    const found = citationsFor(item(text, 2), [
      citation('s2.1', 'Spain won Euro 2024 against England.'),
      citation('s2.2', 'Pastéis de nata are baked in Belém.'),
    ]);

    expect(found.map(({ id }) => id)).toEqual(['s2.1']);
  });

  test('a source that names no passage bears out what its turn says', () => {
    expect(citationsFor(item('Spain won.', 2), [citation('s2.1')])).toHaveLength(1);
  });

  test('a source stays known through compactions for as long as a statement rests on it', () => {
    const known = citation('s2.1', 'Spain won Euro 2024.');
    const previous = { ...holding(), citations: [known] };
    const kept = withCitations(holding(item('Spain won Euro 2024.', 2)), { previous, turns: [] });

    const dropped = withCitations({ ...kept, sections: {} }, { previous: kept, turns: [] });

    expect(kept.citations).toEqual([known]);
    expect(dropped).not.toHaveProperty('citations');
  });
});
