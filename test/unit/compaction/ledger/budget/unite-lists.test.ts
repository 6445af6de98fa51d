import { describe, expect, test } from 'vitest';
import type { Fact, FactKind } from '#shared/compaction/facts/index/fact.ts';
import { uniteLists } from '#shared/compaction/ledger/budget/unite-lists.ts';
import type { Item, Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { counting, item, snapshotWith as assistantWith } from '../ledger-samples.ts';

/** Said by the user in turn 1 and in the given one. */
const fact = (kind: FactKind, text: string, seq: number): Fact => ({
  kind,
  key: text,
  text,
  tier: 2,
  weight: 1,
  speaker: 'user',
  seqs: [1, seq],
  sentence: text,
});
const snapshotWith = (sections: Record<string, Item[]>): Snapshot => ({
  ...assistantWith(sections),
  profile: 'coding',
});
const unite = (snapshot: Snapshot, facts: readonly Fact[], budgetTokens = 2_400): Snapshot =>
  uniteLists(snapshot, facts, { budgetTokens, counting });
const list = (text: string, sources: number[]) =>
  item('i1', text, { sources, importance: 1, by: 'code' });
const trail = (text: string, sources: number[]) =>
  snapshotWith({ artifact_trail: [list(text, sources)] });

describe('lists that code keeps', () => {
  test('extracted lists hold used values, one item a kind, the newest first', () => {
    const { sections, nextId } = unite(snapshotWith({}), [
      fact('path', 'src/a.ts', 3),
      fact('path', 'src/b.ts', 5),
      fact('link', 'https://a.example', 4),
      fact('identifier', 'BK-1', 2),
    ]);

    expect(sections.artifact_trail?.map(({ text, sources }) => [text, sources])).toEqual([
      ['Files: src/b.ts src/a.ts', [3, 5]],
      ['Links: https://a.example', [4]],
      ['Identifiers: BK-1', [2]],
    ]);
    expect(nextId).toBe(4);
  });

  test('extracted lists unite over generations under the same id', () => {
    const { sections } = unite(trail('Files: src/b.ts src/a.ts', [3, 5]), [
      fact('path', 'src/a.ts', 9),
      fact('path', 'src/c.ts', 8),
    ]);

    expect(sections.artifact_trail).toEqual([
      list('Files: src/a.ts src/c.ts src/b.ts', [3, 5, 8, 9]),
    ]);
  });

  test('extracted lists are the same when the same turns are read again', () => {
    const facts = [fact('path', 'src/a.ts', 9), fact('link', 'https://a.example', 9)];
    const once = unite(snapshotWith({}), facts);

    expect(unite(once, facts)).toEqual(once);
  });

  test.each([
    ['a tool alone showed', { ...fact('path', 'src/a.ts', 3), tier: 3, speaker: 'tool' } as const],
    ['the model alone named', { ...fact('path', 'src/a.ts', 3), speaker: 'model' } as const],
    ['the user shows of others', { ...fact('path', 'src/a.ts', 3), isShown: true }],
    ['is no path, link or identifier', fact('amount', '€30', 3)],
    ['is too long', fact('link', `https://a.example/${'x'.repeat(200)}`, 3)],
    ['has blanks', fact('path', 'My Documents/a.txt', 3)],
  ])('extracted lists leave out %s', (_, one) => {
    const before = snapshotWith({});

    expect(unite(before, [one])).toEqual(before);
  });

  test('extracted lists leave out what another item says, old elements included', () => {
    const before = snapshotWith({
      artifact_trail: [list('Files: src/a.ts src/b.ts', [2])],
      key_knowledge: [item('i2', 'The entry point is (src/a.ts).')],
    });

    const { sections } = unite(before, [fact('path', 'src/c.ts', 3)]);
    expect(sections.artifact_trail).toMatchObject([{ text: 'Files: src/c.ts src/b.ts' }]);
  });

  test('extracted lists leave out the end of a longer path', () => {
    const { sections } = unite(trail('Files: setup.ts src/b.ts', [2]), [
      fact('path', 'src/core/setup.ts', 3),
      fact('path', 'core/setup.ts', 3),
    ]);

    expect(sections.artifact_trail).toMatchObject([{ text: 'Files: src/core/setup.ts src/b.ts' }]);
  });

  test('extracted lists are bounded: the oldest elements leave', () => {
    const many = Array.from({ length: 40 }, (_, index) => fact('path', `f${index}.ts`, index + 2));
    const { sections } = unite(trail('Files: old.ts', [1]), many);

    const elements = sections.artifact_trail?.[0]?.text.split(' ').slice(1);
    expect(elements).toHaveLength(30);
    expect(elements?.[0]).toBe('f39.ts');
    expect(elements).not.toContain('old.ts');
  });

  test('a full list is archived and restarted before it would lose a source', () => {
    const sources = Array.from({ length: 200 }, (_, index) => index + 1);
    const full = list('Files: src/a.ts', sources);
    const { sections, archive } = unite(snapshotWith({ artifact_trail: [full] }), [
      fact('path', 'src/b.ts', 300),
    ]);

    expect(sections.artifact_trail).toMatchObject([
      { id: 'i2', text: 'Files: src/b.ts', sources: [300] },
    ]);
    expect(archive).toEqual([{ ...full, section: 'artifact_trail' }]);
  });

  test('extracted lists take a share of the budget, the newest elements first', () => {
    const many = Array.from({ length: 20 }, (_, n) => fact('path', `src/deep/file${n}.ts`, n + 2));

    const { sections } = unite(snapshotWith({}), many, 300);

    const elements = sections.artifact_trail?.[0]?.text.split(' ').slice(1) ?? [];
    expect(elements[0]).toBe('src/deep/file19.ts');
    expect(elements.length).toBeLessThan(6);
  });

  test('conversations between people have no extracted lists', () => {
    const before = assistantWith({});

    expect(unite(before, [fact('path', 'src/a.ts', 3)])).toEqual(before);
  });

  test('earlier lists of conversations between people are archived', () => {
    const old = list('Files: src/a.ts', [2]);
    const { sections, archive } = unite(assistantWith({ artifacts: [old] }), []);

    expect(sections.artifacts ?? []).toEqual([]);
    expect(archive).toEqual([{ ...old, section: 'artifacts' }]);
  });
});
