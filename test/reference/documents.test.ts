import manifest from '../../package.json' with { type: 'json' };
import { matches, textOf } from '#test/terraform/texts.ts';
import { existsSync, globSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const documents = globSync(['*.md', '{docs,terraform,test,clients}/**/*.md'], { cwd: root }).filter(
  (path) => path !== 'CHANGELOG.md' && !path.includes('node_modules'),
);

const withoutCode = (text: string) => text.replaceAll(/^```[^]*?^```/gm, '');

/** As GitHub names headings. */
const slug = (heading: string) =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

function anchorsOf(text: string): string[] {
  const headings = matches(withoutCode(text), /^#+ (.+)$/gm).map(slug);
  return [...headings, ...matches(text, /<a id="([^"]+)"/g)];
}

function leadsNowhere(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? document : join(dirname(document), path);
  if (!existsSync(join(root, file))) return true;
  return anchor !== undefined && file.endsWith('.md') && !anchorsOf(textOf(file)).includes(anchor);
}

test.each(documents)('%s links to files and headings that there are', (document) => {
  const links = matches(withoutCode(textOf(document)), /\]\(([^)\s]+)\)/g);
  const own = links.filter((link) => !/^(?:https?|mailto):/.test(link));

  expect(own.filter((link) => leadsNowhere(document, link))).toEqual([]);
});

test.each(documents)('%s names commands that there are', (document) => {
  const named = matches(textOf(document), /npm run ([a-z][\w:]*)/g);

  expect(named.filter((name) => !(name in manifest.scripts))).toEqual([]);
});
