import { resolveImports, type ScopedNote } from '#shared/memory/imports.ts';
import { appNoteOf, noteOf } from './notes.ts';
import { describe, expect, test } from 'vitest';

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

describe('imports', () => {
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
});
