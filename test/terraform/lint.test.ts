import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { terraformFolder } from './check-terraform.ts';
import { codeIn } from './lint/expressions.ts';
import { lintTerraform } from './lint/lint-terraform.ts';
import { careless } from './mistakes/careless.ts';
import { invalid } from './mistakes/invalid.ts';
import { plant } from './mistakes/plant.ts';
import { seenByLint } from './mistakes/seen-by-lint.ts';

test('the lint finds nothing in terraform/', async () => {
  expect(await lintTerraform(terraformFolder)).toEqual([]);
});

// Mistakes of a list are planted all at once: a second one in a block would hide behind the first.
describe.each([
  ['is not valid', invalid],
  ['is careless', careless],
  ['has no other check without Terraform', seenByLint],
])('the lint sees what %s', (_, mistakes) => {
  let copy = '';
  let found: string[];
  beforeAll(async () => {
    copy = await plant(mistakes);
    found = await lintTerraform(join(copy, 'terraform'));
  });
  afterAll(() => rm(copy, { recursive: true, force: true }));

  const seen = mistakes.flatMap((one) =>
    'lint' in one && one.lint !== undefined ? [{ mistake: one.mistake, lint: one.lint }] : [],
  );
  test.each(seen)('$mistake', ({ lint }) => {
    expect(found).toContain(lint);
  });

  test('and blames no other block', () => {
    const blockOf = (line: string) => line.split(': ').slice(0, 2).join(': ');
    const blamed = new Set(seen.map(({ lint }) => blockOf(lint)));

    expect(found.filter((line) => !blamed.has(blockOf(line)))).toEqual([]);
  });
});

test('a file that cannot be read is said to be one, with its line', async () => {
  const mistake = { mistake: 'a brace too few', file: 'apis.tf', from: '}\n', to: '' };
  const copy = await plant([mistake]);

  const found = await lintTerraform(join(copy, 'terraform'));
  await rm(copy, { recursive: true, force: true });

  expect(found).toEqual([expect.stringContaining('apis.tf:')]);
});

describe('code in a template', () => {
  test.each([
    ['text', ''],
    ['$${not.code}', ''],
    ['a ${var.b} c', 'var.b ; '],
    [
      '${join(",", [for one in var.c : "${one}-x"])}',
      'join("" , [for one in var.c : "" one ; ]) ; ',
    ],
    ['${{ a = var.b }}', '{ a = var.b } ; '],
  ])('of %s', (template, code) => {
    expect(codeIn(template).replaceAll(/\s/g, '')).toBe(code.replaceAll(/\s/g, ''));
  });
});
