import { nestImports, type NestedNote } from '#shared/memory/imports.ts';
import type { AppNote } from '#shared/memory/note.ts';
import { appNoteOf } from './notes.ts';
import { expect, test } from 'vitest';

/** `a>b,c` is a note a that imports b and c. */
const notesOf = (...written: string[]): AppNote[] =>
  written.map((each) => {
    const [id = '', imports] = each.split('>');
    return appNoteOf(id, imports === undefined ? {} : { imports: imports.split(',') });
  });

/** `a(b c)` is a note a with b and c below it. */
const shown = (trees: readonly NestedNote<AppNote>[]): string =>
  trees
    .map(({ note, imports }) => (imports.length === 0 ? note.id : `${note.id}(${shown(imports)})`))
    .join(' ');

test.each([
  ['nothing', [], ''],
  ['notes that import nothing, in their order', ['b', 'a'], 'b a'],
  [
    'what is imported below what imports it, in the order of the imports',
    ['a', 'b', 'c>b,a'],
    'c(b a)',
  ],
  ['what two import, once, below the first', ['a>c', 'b>c', 'c'], 'a(c) b'],
  ['several steps', ['a>b', 'b>c', 'c'], 'a(b(c))'],
  ['an import of nothing that is there', ['a>x'], 'a'],
  ['a note that imports itself', ['a>a'], 'a'],
  ['a circle, from its first note on', ['a>b', 'b>a'], 'a(b)'],
  [
    'a chain of more than five steps, which begins anew',
    ['a>b', 'b>c', 'c>d', 'd>e', 'e>f', 'f>g', 'g'],
    'a(b(c(d(e(f))))) g',
  ],
])('imports as trees are %s', (_, written, trees) => {
  expect(shown(nestImports(notesOf(...written)))).toBe(trees);
});
