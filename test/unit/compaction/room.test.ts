import { describe, expect, test } from 'vitest';
import { engineConstants } from '#shared/compaction/engine-constants.ts';
import { renderWorkingLayer } from '#shared/compaction/render.ts';
import {
  fitSnapshot,
  measureWideShare,
  promptRoom,
  snapshotRoom,
  type Folding,
} from '#shared/compaction/room.ts';
import { workingItems, type Item, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';
import { counting, item, snapshotWith } from '#test/support/compaction/engine-samples.ts';

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

describe('the room of a snapshot', () => {
  test('the room grows by a quarter of the budget twice, and then stands', () => {
    let known: number | undefined;
    const rooms = [0, 1, 2, 3, 4, 9].map((folds) => {
      known = roomOf(after(folds, known)).characters;
      return known;
    });

    expect(rooms).toEqual([6_200, 7_900, 9_500, 9_500, 9_500, 9_500]);
  });

  test('the room that a conversation has does not shrink with a smaller fold', () => {
    const larger = roomOf({ ...after(1, 8_500) });

    expect(larger.characters).toBe(8_500);
  });

  test('a changed budget bounds the room', () => {
    const { characters } = roomOf({ ...after(5, 9_500), budgetTokens: 1_000 });

    expect(characters).toBeLessThan(6_000);
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

  test('a model may write a little more than it is told', () => {
    const { roomTokens, ceilingTokens } = roomOf();

    expect(ceilingTokens / roomTokens).toBeCloseTo(engineConstants.roomOvershoot.value, 2);
  });

  test.each([
    ['Hello there', 0],
    ['我们去里昂', 1],
    ['안녕 abcd', 1 / 3],
    ['?!', 0],
  ])('the share of wide letters in %j', (user, share) => {
    expect(measureWideShare([saidTurn(1, { user })])).toBeCloseTo(share);
  });
});

describe('a context gets smaller:', () => {
  test.each([600, 1_000, 2_000, 3_000])('a snapshot of %i tokens is less', (foldedTokens) => {
    const { roomTokens, ceilingTokens } = roomOf({ foldedTokens });

    expect(ceilingTokens).toBeGreaterThanOrEqual(roomTokens);
    expect(ceilingTokens).toBeLessThanOrEqual(Math.max(300, 0.85 * foldedTokens - 250));
  });

  test('the snapshot that is replaced counts', () => {
    expect(roomOf({ foldedTokens: 1_000, previousTokens: 1_500 }).ceilingTokens).toBeGreaterThan(
      roomOf({ foldedTokens: 1_000 }).ceilingTokens,
    );
  });

  test.each([0, 10, 200])('sections have some room where %i tokens are folded', (foldedTokens) => {
    expect(roomOf({ foldedTokens }).ceilingTokens).toBeLessThanOrEqual(300);
    expect(roomOf({ foldedTokens }).characters).toBeGreaterThanOrEqual(300);
  });

  test('rules have their share of the budget also where a fold is small', () => {
    expect(roomOf({ foldedTokens: 300 }).constraintTokens).toBe(700);
  });
});

describe('what one answer may say', () => {
  const room = { characters: 10_000 };
  const known = (characters: number) => [{ text: 'a'.repeat(characters) }];

  test.each([
    ['all but the timeline’s tenth where nothing is known', known(0), 0, 1, 9_000, 10],
    ['what is free', known(3_000), 1, 1, 6_000, 10],
    ['half where the first fold filled the room', known(9_000), 1, 1, 4_500, 10],
    ['a third share where the room is full', known(9_000), 5, 1, 3_100, 10],
    ['its part of several', known(0), 0, 3, 3_000, 4],
  ])('one answer may say %s', (...[, items, folds, chunks, characters, topics]) => {
    expect(promptRoom(room, { known: items, folds, chunks })).toEqual({ characters, topics });
  });

  test('one answer of many may say something', () => {
    const { characters, topics } = promptRoom(
      { characters: 300 },
      { known: [], folds: 0, chunks: 40 },
    );

    expect({ characters, topics }).toEqual({ characters: 300, topics: 1 });
  });
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
  test('a snapshot that fits stays as it is', () => {
    const snapshot = snapshotWith({ key_knowledge: lines(3) });

    expect(fit(snapshot, 1_000)).toEqual({
      snapshot,
      archived: [],
      dropped: [],
      constraintsOverBudget: false,
    });
  });

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

  test('what is done leaves before what is open, actions before knowledge, a goal last', () => {
    const snapshot = snapshotWith({
      overall_goal: [line(1)],
      user_profile: [line(2)],
      key_knowledge: [line(3)],
      recent_actions: [line(4)],
      task_state: [line(5, { status: 'done' }), line(6, { status: 'todo' })],
    });

    const { archived } = fit(snapshot, 30);

    expect(archived.map(({ id }) => id)).toEqual(['i4', 'i5', 'i3', 'i2', 'i6', 'i1']);
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

  test('the oldest lines of the timeline go beyond a tenth of the room', () => {
    const timeline = Array.from({ length: 40 }, (_, n) =>
      item(`i${n + 1}`, `Topic number ${n}`, { sources: [n + 1], through: n + 1 }),
    );

    const { snapshot } = fit(snapshotWith({ timeline }), 1_000);

    const ids = idsIn(snapshot);
    expect(ids.length).toBeGreaterThan(5);
    expect(ids).toEqual(timeline.slice(-ids.length).map(({ id }) => id));
    expect(snapshot.archive).toHaveLength(40 - ids.length);
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

test('rules take no more than their share as they are rendered, signs that are escaped included', () => {
  const rules = ['a', 'b', 'c', 'd'].map((name) =>
    item(`i${name}`, `Never write ${'<&>'.repeat(100)} in ${name}.`),
  );
  const room = { ceilingTokens: 2_300, constraintTokens: 800 };

  const { snapshot } = fitSnapshot(snapshotWith({ active_constraints: rules }), room, counting);

  expect(estimateTextTokens(renderWorkingLayer(snapshot), counting)).toBeLessThan(900);
  expect(snapshot.sections['active_constraints']?.length).toBeGreaterThan(0);
});

describe('the archive is bounded', () => {
  const archived = (count: number, more: Partial<Item> = {}, first = 1) =>
    Array.from({ length: count }, (_, n) => ({
      ...line(first + n, more, 1),
      section: 'key_knowledge',
    }));
  const limit = engineConstants.archiveItemLimit.value;

  test('the archive keeps the newest of the most important, and tells the others', () => {
    const archive = [...archived(limit), ...archived(10, { importance: 3, sources: [1] }, 1_000)];

    const { snapshot, dropped } = fit(snapshotWith({}, { archive }), 1_000);

    expect(snapshot.archive).toHaveLength(limit);
    expect(dropped.map(({ id }) => id)).toEqual(archive.slice(0, 10).map(({ id }) => id));
  });

  test('the archive has at most so many characters', () => {
    const archive = Array.from({ length: 200 }, (_, n) => ({
      ...line(n + 1, {}, 200),
      section: 'key_knowledge',
    }));

    const { snapshot, dropped } = fit(snapshotWith({}, { archive }), 1_000);

    expect(JSON.stringify(snapshot.archive).length).toBeLessThanOrEqual(
      engineConstants.archiveCharacters.value + 1,
    );
    expect(snapshot.archive.length + dropped.length).toBe(200);
    expect(dropped[0]?.id).toBe('i1');
  });

  test('what was replaced leaves first, and with what replaced it', () => {
    const replaced = archived(5, { importance: 3 }, 900);
    const replacing = replaced.map(({ id }, n) => ({
      ...line(800 + n, { supersedes: id, sources: [5_000 + n] }),
      section: 'key_knowledge',
    }));
    const archive = [...replaced, ...replacing, ...archived(limit - 5)];

    const { dropped } = fit(snapshotWith({}, { archive }), 1_000);

    expect(dropped.map(({ id }) => id)).toEqual(replaced.map(({ id }) => id));
  });
});
