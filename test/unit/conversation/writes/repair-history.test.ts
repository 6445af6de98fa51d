import type { History } from '#shared/conversation/documents/history.ts';
import { withoutTurns, type RenderHistory } from '#shared/conversation/writes/erased-history.ts';
import { snapshotTexts } from '#test/support/chat/lifecycle.ts';
import { item, snapshotWith } from '#test/support/compaction/engine-samples.ts';
import { history } from '#test/support/compaction/past-compactions.ts';
import { expect, test } from 'vitest';

/** A statement that these turns are cited for. */
const statement = (id: string, sources: number[]) =>
  item(id, `Said in ${sources.join(' and ')}.`, { sources });

const covering: History = {
  ...history(1, 1_000),
  from: 6,
  coveredThrough: { seq: 9, contentIndex: 2 },
  snapshot: snapshotWith(
    {
      overall_goal: [statement('i1', [1])],
      decisions: [statement('i2', [3]), statement('i3', [3, 5]), statement('i4', [5])],
    },
    {
      archive: [
        { ...statement('i5', [3]), section: 'decisions' },
        { ...statement('i6', [7]), section: 'decisions' },
      ],
      nextId: 7,
    },
  ),
  report: { leftOut: [{ text: 'Said in 3.', seq: 3 }] },
};

const render: RenderHistory = (snapshot, boundary) => ({
  snapshotText: [boundary, ...snapshotTexts(snapshot)].join('\n'),
  snapshotTokens: 7,
});

const without = (gone: Parameters<typeof withoutTurns>[1], input = covering) =>
  withoutTurns(input, gone, render);

test('a history repaired after an erasure keeps items that do not cite the turn', () => {
  const mended = without({ seqs: [3] });

  expect(mended.snapshotText).toBe('b\nSaid in 1.\nSaid in 5.\nSaid in 7.');
  expect(mended.snapshot).toMatchObject({ nextId: 7, archive: [{ id: 'i6' }] });
  expect(mended).toMatchObject({ mended: true, rederiveFrom: 3, snapshotTokens: 7 });
  expect(mended.coveredThrough).toEqual(covering.coveredThrough);
});

test('a history cut at an erased turn ends before it', () => {
  const mended = without({ seqs: [], fromSeq: 4 });

  expect(mended.snapshotText).toBe('b\nSaid in 1.\nSaid in 3.\nSaid in 3.');
  expect(mended.coveredThrough).toEqual({ seq: 3, contentIndex: 0 });
  expect(mended.from).toBe(3);
});

test('a history that does not cover the turn stays as it is', () => {
  expect(without({ seqs: [12] })).toBe(covering);
});

test.each<[string, Partial<History>]>([
  ['whose items have no sources', { snapshot: snapshotOf([[], []]) }],
  ['that has text and no items', { snapshot: null }],
])('a history without the erased turn: %s is emptied', (_, changes) => {
  const mended = without({ seqs: [3] }, { ...covering, ...changes });

  expect(mended).toMatchObject({ erased: true, snapshot: null, snapshotText: '' });
});

function snapshotOf(sources: number[][]) {
  return snapshotWith({
    decisions: sources.map((each, index) => statement(`i${index + 1}`, each)),
  });
}
