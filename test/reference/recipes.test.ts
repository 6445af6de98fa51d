import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';

const clients = new URL('../../docs/clients/', import.meta.url);
const read = (file: string) => readFile(new URL(file, clients), 'utf8');
const filesOf = (path: string) => readdirSync(new URL(path, clients));

/** Recipes that a guide prints whole, and the guide. */
const printed: [recipe: string, guide: string][] = [
  ['callable-web.ts', 'firebase-callable.md'],
  ['openai-sdk.ts', 'openai-sdk.md'],
];

test.each(printed)('the recipe %s is printed in %s as the tests run it', async (recipe, guide) => {
  // Apps import the umbrella package; the tests have the part of it that they need.
  const code = (await read(`recipes/${recipe}`)).replace(
    '@firebase/functions',
    'firebase/functions',
  );

  expect(await read(guide)).toContain(code);
});

const linked = filesOf('recipes').filter((recipe) => !printed.some(([name]) => name === recipe));

test.each(linked)('the recipe %s is linked from a guide', async (recipe) => {
  const guides = filesOf('.').filter((file) => file.endsWith('.md') && file !== 'README.md');
  const texts = await Promise.all(guides.map(read));

  expect(texts.filter((text) => text.includes(`](recipes/${recipe})`))).not.toEqual([]);
});
