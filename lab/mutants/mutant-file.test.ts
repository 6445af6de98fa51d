import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseMutant } from './mutant-file.ts';

const root = new URL('../../', import.meta.url);
const patches = new URL('patches/', import.meta.url);
const mutants = readdirSync(fileURLToPath(patches)).map((file) =>
  parseMutant(file.replace(/\.patch$/, ''), readFileSync(new URL(file, patches), 'utf8')),
);

test.each(mutants)('the patch $name breaks files and names a test that are there', (mutant) => {
  const paths = [...mutant.files, ...(mutant.test === undefined ? [] : [mutant.test])];

  expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});

test.each([
  ['kind: guard\n\n--- a/a.ts', 'x.patch lacks the line "breaks:"'],
  ['breaks: It.\nkind: odd\n\n--- a/a.ts', 'x.patch: "kind:" is none of'],
  ['breaks: It.\nkind: guard\n\nnothing', 'x.patch changes no file'],
  ['odd\n\n--- a/a.ts', 'x.patch: "odd" is no line'],
])('a patch with the head %j is refused', (text, problem) => {
  expect(() => parseMutant('x', text)).toThrow(problem);
});
