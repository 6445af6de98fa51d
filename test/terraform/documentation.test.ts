import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { rootsIn, terraformFolder } from './check-terraform.ts';
import { readModule } from './read-module.ts';

/** A row of a table, however wide its columns are. */
const rows = readFileSync(join(terraformFolder, 'README.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| `\w+`\s+\|/.test(line))
  .map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .join('|'),
  );

test('terraform/README.md has a row for each variable and output, as the module says it, and no other', async () => {
  const { variables, outputs } = await readModule(terraformFolder);
  const shown = (value: unknown) =>
    value === undefined ? '**must be set**' : `\`${JSON.stringify(value)}\``;

  expect(rows.toSorted()).toEqual(
    [
      ...variables.map(
        ({ name, body }) =>
          `|\`${name}\`|${shown(body['default'])}|${String(body['description'])}|`,
      ),
      ...outputs.map(({ name, body }) => `|\`${name}\`|${String(body['description'])}|`),
    ].toSorted(),
  );
});

describe.each(await rootsIn(terraformFolder))('terraform/%s', (root) => {
  // Terraform takes a variable without one.
  test('describes every variable and output', async () => {
    const { variables, outputs } = await readModule(join(terraformFolder, root));
    const silent = [...variables, ...outputs].filter(
      ({ body }) => typeof body['description'] !== 'string' || body['description'] === '',
    );

    expect(silent.map(({ address }) => address)).toEqual([]);
  });
});
