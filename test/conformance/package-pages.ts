import { readFileSync } from 'node:fs';
import { pageBlocks } from '#test/recipes/page-modules.ts';
import type { SourceFile } from './launchers/build-client.ts';

const CLIENTS = new URL('../../clients/', import.meta.url);

/**
 * The code of a language on every page, and in the README of its package, as files to compile: one a page, made by `fileOf` of its
 * blocks. Blocks that `isLeftOut` are not compiled.
 */
export function packagePages(
  language: 'dart' | 'kotlin' | 'swift',
  fileOf: (page: string, blocks: readonly string[]) => SourceFile,
  isLeftOut: (block: string) => boolean = () => false,
): { pages: string[]; files: SourceFile[] } {
  const readme = readFileSync(new URL(`${language}/README.md`, CLIENTS), 'utf8');
  const inReadme = readme.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  const blocks = [
    ...pageBlocks().filter((block) => block.language === language),
    ...[...inReadme].map(([, text = '']) => ({ page: 'README.md', text })),
  ].filter(({ text }) => !isLeftOut(text));
  const byPage = Map.groupBy(blocks, ({ page }) => page);
  const files = [...byPage].map(([page, of]) =>
    fileOf(
      page,
      of.map(({ text }) => text),
    ),
  );
  return { pages: [...byPage.keys()], files };
}
