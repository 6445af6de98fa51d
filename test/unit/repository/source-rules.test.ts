import { expect, test } from 'vitest';
import { sourceProblems } from '#infra/source-rules.ts';

test.each([
  [
    'an import that climbs',
    { 'lab/a/b.ts': `import { x } from '${'../'.repeat(2)}shared/x.ts';` },
    'above',
  ],
  ['a parameter `of`', { 'shared/a.ts': 'const f = (of: string) => of;' }, 'parameter called `of`'],
  ['a name with Of', { 'infra/a.ts': 'export const lengthOf = 1;' }, 'exports lengthOf; say'],
  ['an export without importer', { 'test/a.ts': 'export const left = 1;' }, 'nothing imports'],
])('the source rules refuse %s', (_name, sources, problem) => {
  expect(sourceProblems(sources).join('\n')).toContain(problem);
});

test.each([
  ['by its name', "import { used } from '#shared/a.ts';"],
  ['as a type, beside others', "import { type Other, type used } from '#shared/a.ts';"],
  ['lazily', "const { used } = await import('#shared/a.ts');"],
  ['and exported again', "export { used } from '#shared/a.ts';"],
])('the source rules count an export imported %s as used', (_name, importing) => {
  const sources = { 'shared/a.ts': 'export const used = 1;', 'lab/b.ts': importing };

  expect(sourceProblems(sources)).toEqual([]);
});
