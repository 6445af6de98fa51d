import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { terraformFolder } from './check-terraform.ts';
import { moduleOutputs, moduleVariables } from './module-document.ts';

const readme = readFileSync(join(terraformFolder, 'README.md'), 'utf8');

/** A row of a table, however wide its columns are. */
const rows = new Set(
  readme.split('\n').map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .join('|'),
  ),
);

describe('terraform/README.md', () => {
  test.each(moduleVariables())('tells of the variable $name what the module says', (variable) => {
    const { name, description, value } = variable;
    const shown = value === undefined ? '**must be set**' : `\`${value}\``;

    expect(rows).toContain(`|\`${name}\`|${shown}|${description}|`);
  });

  test.each(moduleOutputs())('tells of the output $name what the module says', (output) => {
    expect(rows).toContain(`|\`${output.name}\`|${output.description}|`);
  });

  test('tells of no variable and no output that there is not', () => {
    const told = [...readme.matchAll(/^\| `(\w+)`\s+\|/gm)].map(([, name = '']) => name);
    const known = [...moduleVariables(), ...moduleOutputs()].map(({ name }) => name);

    expect(told.toSorted()).toEqual(known.toSorted());
  });

  test.each(['dev', 'prod'])('%s has a description for everything', (environment) => {
    for (const name of readdirSync(join(terraformFolder, 'environments', environment))) {
      const text = readFileSync(join(terraformFolder, 'environments', environment, name), 'utf8');
      const blocks = text.match(/^(?:variable|output) "/gm) ?? [];

      expect(text.match(/^ {2}description = "/gm) ?? []).toHaveLength(blocks.length);
    }
  });
});
