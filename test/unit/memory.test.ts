import { resolveImports, type ScopedNote } from '#shared/memory/imports.ts';
import { touchedBy } from '#shared/memory/select-memory.ts';
import { readAppNotes } from '#shared/memory/note.ts';
import { appNoteOf, noteOf } from '#test/support/notes.ts';
import { expect, test } from 'vitest';

const user = (id: string, imports: string[] = []) => noteOf(1, { id, imports });
const app = (id: string, imports: string[] = []) => appNoteOf(id, { imports });

function resolve(
  rootIds: readonly string[],
  notes: { user?: ReturnType<typeof user>[]; app?: ReturnType<typeof app>[] },
) {
  const atHand = { user: notes.user ?? [], app: notes.app ?? [] };
  const all: ScopedNote[] = [
    ...atHand.user.map((note) => ({ scope: 'user' as const, note })),
    ...atHand.app.map((note) => ({ scope: 'app' as const, note })),
  ];
  const roots = all.filter(({ note }) => rootIds.includes(note.id));
  const { loaded, leftOut } = resolveImports(roots, atHand);
  return { loaded: loaded.map(({ scope, note }) => `${scope}/${note.id}`), leftOut };
}

/** `n0` imports `n1`, and so on. */
const chain = (length: number) =>
  Array.from({ length }, (_, i) => user(`n${i}`, i + 1 < length ? [`n${i + 1}`] : []));

test.each([
  {
    what: 'nothing is imported',
    roots: ['a'],
    notes: { user: [user('a'), user('b')] },
    loaded: ['user/a'],
  },
  {
    what: 'a note of the user brings one of the user and one of the app',
    roots: ['a'],
    notes: { user: [user('a', ['b', 'x']), user('b')], app: [app('x')] },
    loaded: ['user/a', 'user/b', 'app/x'],
  },
  {
    what: 'the user’s own note comes before one of the app with the same id',
    roots: ['a'],
    notes: { user: [user('a', ['x']), user('x')], app: [app('x')] },
    loaded: ['user/a', 'user/x'],
  },
  {
    what: 'a shorter way leads to what is too far by a longer one',
    roots: ['n0', 'short'],
    notes: { user: [...chain(7), user('short', ['n6'])] },
    loaded: [
      'user/n0',
      'user/short',
      'user/n1',
      'user/n6',
      'user/n2',
      'user/n3',
      'user/n4',
      'user/n5',
    ],
  },
])('imports are complete when $what', ({ roots, notes, loaded }) => {
  expect(resolve(roots, notes).loaded.toSorted()).toEqual(loaded.toSorted());
});

test.each([
  {
    what: 'nobody has',
    roots: ['a'],
    notes: { user: [user('a', ['gone'])] },
    leftOut: [{ id: 'gone', by: 'a', reason: 'unknown' }],
  },
  {
    what: 'a note of the app wants of the user',
    roots: ['x'],
    notes: { app: [app('x', ['a'])], user: [user('a')] },
    leftOut: [{ id: 'a', by: 'x', reason: 'unknown' }],
  },
  {
    what: 'a note wants of itself',
    roots: ['a'],
    notes: { user: [user('a', ['a'])] },
    leftOut: [{ id: 'a', by: 'a', reason: 'cycle' }],
  },
  {
    what: 'lead back',
    roots: ['a'],
    notes: { user: [user('a', ['b']), user('b', ['c']), user('c', ['a'])] },
    leftOut: [{ id: 'a', by: 'c', reason: 'cycle' }],
  },
  {
    what: 'are six steps away',
    roots: ['n0'],
    notes: { user: chain(7) },
    leftOut: [{ id: 'n6', by: 'n5', reason: 'tooDeep' }],
  },
])('imports that $what are left out and reported', ({ roots, notes, leftOut }) => {
  expect(resolve(roots, notes).leftOut).toEqual(leftOut);
});

const many = (length: number) => Array.from({ length }, (_, i) => ({ id: `a${i}`, text: 'x' }));

test.each([
  { what: 'no array', fields: { notes: 'x' }, usable: 0, unusable: 0 },
  { what: 'none', fields: {}, usable: 0, unusable: 0 },
  { what: 'a blank text', fields: { notes: [{ id: 'a', text: ' ' }] }, usable: 0, unusable: 1 },
  { what: 'no id', fields: { notes: [{ text: 'x' }] }, usable: 0, unusable: 1 },
  {
    what: 'the same id twice',
    fields: { notes: [...many(1), ...many(1)] },
    usable: 1,
    unusable: 1,
  },
  {
    what: 'a text of 1,001 characters',
    fields: { notes: [{ id: 'a', text: 'x'.repeat(1_001) }] },
    usable: 0,
    unusable: 1,
  },
  { what: 'more than a hundred', fields: { notes: many(120) }, usable: 100, unusable: 20 },
])(
  'the app’s notes with $what are read as far as they are valid',
  ({ fields, usable, unusable }) => {
    const read = readAppNotes(fields);

    expect([read.notes.length, read.unusable]).toEqual([usable, unusable]);
  },
);

test.each([
  ['flights', 'Which flight is the cheapest?'],
  ['flight', 'Compare two flights for me.'],
  ['FLIGHTS', 'any flights today'],
  ['meal plan', 'Plan my meals for the week.'],
  ['café', 'Find a cafe near me'],
  ['여행', '다음 달 여행계획을 세워줘'],
  ['出張', '来週の出張について'],
  ['饮食', '请记住我的饮食习惯'],
  ['コーヒーメーカー', '新しいコーヒーメーカーを買う'],
  ['ＡＢＣ', 'abc'],
])('a topic: %s is touched by "%s"', (topic, message) => {
  expect(touchedBy(message)(topic)).toBe(true);
});

test.each([
  ['flights', 'Which train is the cheapest?'],
  ['art', 'Start the article.'],
  ['meal plan', 'Plan my week.'],
  ['여행', '오늘 날씨 어때?'],
  ['コーヒーメーカー', 'コーヒーをください'],
  ['', 'anything'],
  ['!?', 'anything!?'],
  ['flights', ''],
])('a topic: %s is not touched by "%s"', (topic, message) => {
  expect(touchedBy(message)(topic)).toBe(false);
});
