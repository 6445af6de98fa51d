import { expect, test } from 'vitest';
import { changedNotes, decodeNotes, encodeNotes, noNotes } from '#shared/memory/note.ts';
import { noteOf } from './notes.ts';

const DAY_MS = 24 * 60 * 60_000;
const now = new Date('2026-03-02T10:00:00.000Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS);

test('a deleted note leaves its id and the time, through the store', () => {
  const before = { ...noNotes, notes: [noteOf(1), noteOf(2)] };

  const after = changedNotes(before, [noteOf(2)], now);
  const fields = encodeNotes(after);
  const stored = { path: 'users/u1/memory/notes', fields, updateTime: '1' };

  expect(after).toMatchObject({ revision: 1, deleted: [{ id: 'n1', time: now }] });
  expect(decodeNotes(stored)).toMatchObject(after);
});

test('ids of deleted notes are kept for thirty days, and a hundred at most', () => {
  const old = [31, 29].map((days) => ({ id: `d${days}`, time: daysAgo(days) }));
  const many = Array.from({ length: 100 }, (_, i) => noteOf(i + 1));

  const few = changedNotes({ ...noNotes, deleted: old, notes: [noteOf(1)] }, [], now);
  const all = changedNotes({ ...noNotes, deleted: old, notes: many }, [], now);

  expect(few.deleted?.map(({ id }) => id)).toEqual(['d29', 'n1']);
  expect(all.deleted?.map(({ id }) => id)).toEqual(many.map(({ id }) => id));
});
