import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { terraformFolder } from './check-terraform.ts';
import { readModule } from './read-module.ts';
import { filesBelow, matches, textOf } from './texts.ts';

/** Whoever may tell somebody to ask for an output: documents, tools, Terraform's own texts. */
const files = filesBelow(['docs', 'infra', 'terraform', 'web/src'], /\.(?:md|ts|tsx|tf|tftpl)$/);

/** `terraform output NAME`, with the options between. */
const asked = /terraform (?:-chdir=\S+ )?output (?:-\w+ )*(\w+)/g;

const named = ['README.md', ...files].flatMap((file) =>
  matches(textOf(file), asked).map((output) => ({ file, output })),
);

describe('outputs of Terraform that are named somewhere', () => {
  test('are found', () => {
    expect(named.length).toBeGreaterThan(5);
  });

  test.each(['dev', 'prod'])('are outputs of environments/%s', async (environment) => {
    const { outputs } = await readModule(join(terraformFolder, 'environments', environment));
    const known = outputs.map(({ name }) => name);

    expect(named.filter(({ output }) => !known.includes(output))).toEqual([]);
  });
});
