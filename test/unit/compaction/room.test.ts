import { engineConstants } from '#shared/compaction/constants.ts';
import { renderWorkingLayer } from '#shared/compaction/render.ts';
import { fitSnapshot, snapshotRoom, type Folding } from '#shared/compaction/room.ts';
import { workingItems, type Item, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { counting, item, snapshotWith } from '#test/support/compaction/engine-samples.ts';
import { describe, expect, test } from 'vitest';

const oneFold: Folding = {
  budgetTokens: 2_000,
  foldedTokens: 16_000,
  previousTokens: 0,
  previous: undefined,
  calibration: 1,
  wideShare: 0,
};
const roomOf = (folding: Partial<Folding> = {}) => snapshotRoom({ ...oneFold, ...folding });
const after = (folds: number, roomCharacters?: number): Partial<Folding> => ({
  previous: snapshotWith({}, { folds, ...(roomCharacters !== undefined && { roomCharacters }) }),
});

test('the room grows by a quarter of the budget twice, and then stands', () => {
  let known: number | undefined;
  const rooms = [0, 1, 2, 3, 4, 9].map((folds) => {
    known = roomOf(after(folds, known)).characters;
    return known;
  });

  expect(rooms).toEqual([6_200, 7_900, 9_500, 9_500, 9_500, 9_500]);
});

test.each([
  ['is more where our estimate is above what the model counts', { calibration: 0.8 }, 2_500],
  ['is less where it is below', { calibration: 1.25 }, 1_600],
  ['is more for ideographs', { wideShare: 1 }, 3_703],
  ['is what the model reports for ideographs', { wideShare: 1, calibration: 0.8 }, 2_500],
])('the room in tokens %s', (_what, folding, tokens) => {
  expect(roomOf(folding).roomTokens).toBeGreaterThan(tokens - 120);
  expect(roomOf(folding).roomTokens).toBeLessThanOrEqual(tokens);
});

test.each([600, 1_000, 2_000, 3_000])('a snapshot of %i tokens is less', (foldedTokens) => {
  const { roomTokens, ceilingTokens } = roomOf({ foldedTokens });

  expect(ceilingTokens).toBeGreaterThanOrEqual(roomTokens);
  expect(ceilingTokens).toBeLessThanOrEqual(Math.max(300, 0.85 * foldedTokens - 250));
});

/** A line of about `tokens` estimated tokens. */
const line = (id: number, more: Partial<Item> = {}, words = 12): Item =>
  item(`i${id}`, `${'word '.repeat(words)}${id}`, { sources: [id], ...more });
const lines = (count: number, more: Partial<Item> = {}, first = 1) =>
  Array.from({ length: count }, (_, n) => line(first + n, more));
const fit = (snapshot: Snapshot, ceilingTokens: number, constraintTokens = 0.35 * ceilingTokens) =>
  fitSnapshot(snapshot, { ceilingTokens, constraintTokens }, counting);
const idsIn = (snapshot: Snapshot) => workingItems(snapshot).map(({ id }) => id);

describe('a snapshot that has more than its room', () => {
  test('the oldest of least worth goes to the archive, whole', () => {
    const snapshot = snapshotWith({
      key_knowledge: [line(4), line(5, { importance: 3 }), line(6), line(3, { importance: 1 })],
    });
    const tokens = estimateTextTokens(renderWorkingLayer(snapshot), counting);

    const { snapshot: fitted, archived } = fit(snapshot, tokens - 20);

    expect(archived.map(({ id }) => id)).toEqual(['i3', 'i4']);
    expect(fitted.archive).toMatchObject([
      { id: 'i3', section: 'key_knowledge', text: line(3).text },
      { id: 'i4' },
    ]);
  });

  test('rules beyond their share go first, of the least important the longest, then the oldest', () => {
    const snapshot = snapshotWith({
      active_constraints: [
        line(9, { importance: 3 }, 20),
        ...lines(20, {}, 10),
        line(31, { sources: [90] }, 20),
      ],
      key_knowledge: lines(5, {}, 40),
    });

    const { snapshot: fitted, archived, constraintsOverBudget } = fit(snapshot, 500);

    expect(constraintsOverBudget).toBe(true);
    expect(archived.slice(0, 2).map(({ id }) => id)).toEqual(['i31', 'i10']);
    expect(idsIn(fitted)).toEqual(expect.arrayContaining(['i9', 'i29', 'i44']));
  });

  test('rules keep their share of the budget, but not all of a small room', () => {
    const snapshot = snapshotWith({
      active_constraints: lines(20),
      key_knowledge: lines(1, {}, 30),
    });

    const { snapshot: fitted } = fit(snapshot, 200, 2_000);

    const rules = fitted.sections['active_constraints'] ?? [];
    const tokens = rules.reduce(
      (sum, { text }) => sum + estimateTextTokens(`- ${text}\n`, counting),
      0,
    );
    expect(tokens).toBeLessThanOrEqual(0.75 * 200);
    expect(rules.length).toBeGreaterThan(3);
    expect(idsIn(fitted)).toContain('i30');
  });

  test('whatever is there, the working layer fits', () => {
    const snapshot = snapshotWith({
      overall_goal: [line(1)],
      active_constraints: lines(30, {}, 10),
      key_knowledge: lines(60, {}, 50),
    });

    for (const ceilingTokens of [100, 300, 900]) {
      const { snapshot: fitted } = fit(snapshot, ceilingTokens);
      const tokens = estimateTextTokens(renderWorkingLayer(fitted), counting);
      expect(tokens).toBeLessThanOrEqual(ceilingTokens);
    }
  });
});

describe('the archive is bounded', () => {
  const archived = (count: number, more: Partial<Item> = {}, first = 1) =>
    Array.from({ length: count }, (_, n) => ({
      ...line(first + n, more, 1),
      section: 'key_knowledge',
    }));
  const limit = engineConstants.archiveItemLimit;

  test('the archive keeps the newest of the most important, and tells the others', () => {
    const archive = [...archived(limit), ...archived(10, { importance: 3, sources: [1] }, 1_000)];

    const { snapshot, dropped } = fit(snapshotWith({}, { archive }), 1_000);

    expect(snapshot.archive).toHaveLength(limit);
    expect(dropped.map(({ id }) => id)).toEqual(archive.slice(0, 10).map(({ id }) => id));
  });
});
