import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { terraformFolder } from './check-terraform.ts';
import { readModule } from './read-module.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Whoever may tell somebody to ask for an output: documents, tools, Terraform's own texts. */
const files = ['docs', 'infra', 'terraform', 'web/src'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:md|ts|tsx|tf|tftpl)$/.test(name))
    .map((name) => join(folder, name)),
);

/** `terraform output NAME`, with the options between. */
const asked = /terraform (?:-chdir=\S+ )?output (?:-\w+ )*(\w+)/g;

const named = ['README.md', ...files].flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(asked)].map(([, output = '']) => ({
    file,
    output,
  })),
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
