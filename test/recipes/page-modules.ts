import { readdirSync, readFileSync } from 'node:fs';
import type { SourceFile } from './compile-recipes.ts';

const PAGES = new URL('../../docs/clients/', import.meta.url);

/** A page's block of code, from 0. */
interface Block {
  page: string;
  n: number;
  language: string;
  text: string;
}

/** Every block of code of every page for clients. */
export const pageBlocks = (): Block[] =>
  readdirSync(PAGES)
    .filter((file) => file.endsWith('.md'))
    .flatMap((page) => {
      const text = readFileSync(new URL(page, PAGES), 'utf8');
      const blocks = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
      return blocks.map(([, language = '', block = ''], n) => ({ page, n, language, text: block }));
    });

/** What the pages leave to the app, and packages that the tests do not have. */
const LEFT_TO_THE_APP = `
declare module 'firebase/auth' {
  interface User { getIdToken(renew?: boolean): Promise<string> }
  export function getAuth(): { currentUser: User | null };
}
declare module 'firebase/functions' {
  export * from '@firebase/functions';
}
declare const baseUrl: string;
declare const url: string;
declare const id: string;
declare const conversationId: string;
declare const user: { getIdToken(): Promise<string> };
declare const getIdToken: () => Promise<string>;
declare const getAppCheckToken: () => Promise<string>;
declare const show: (text: string) => void;
declare const output: HTMLElement;
declare const locate: (input: unknown) => Promise<{ lat: number; lng: number }>;
`;

const IMPORT = /^import\s[^;]*;\n/gm;

/**
 * The blocks of a page as modules, one each: a reader pastes them one below another, so each begins with the imports of
 * the whole page and with the blocks before it. Every block stands in a scope of its own, where it may say a name anew.
 */
function modulesOfPage(page: string, blocks: readonly Block[]): SourceFile[] {
  const all = new Set(blocks.flatMap(({ text }) => text.match(IMPORT) ?? []));
  // A class that one block has as a type, another makes.
  const imports = [...all].filter(
    (line) => !all.has(line.replace('import type ', 'import ')) || !line.startsWith('import type '),
  );
  const bodies = blocks.map(({ text }) => text.replaceAll(IMPORT, '').replaceAll(/^export /gm, ''));
  return blocks.map(({ n, language }, index) => ({
    name: `${page.replace('.md', '')}-${n}.${language === 'tsx' ? 'tsx' : 'ts'}`,
    text: [
      '/// <reference path="./left-to-the-app.d.ts" />',
      ...imports,
      bodies.slice(0, index + 1).join('\n{\n'),
      '}'.repeat(index),
      'export {};\n',
    ].join('\n'),
  }));
}

/** The TypeScript of every page. */
export function pageModules(): { page: string; blocks: SourceFile[] }[] {
  const blocks = pageBlocks().filter(({ language }) => /^tsx?$/.test(language));
  const names = [...new Set(blocks.map(({ page }) => page))];
  const declarations = { name: 'left-to-the-app.d.ts', text: LEFT_TO_THE_APP };
  return [
    { page: '', blocks: [declarations] },
    ...names.map((page) => ({
      page,
      blocks: modulesOfPage(
        page,
        blocks.filter((block) => block.page === page),
      ),
    })),
  ];
}
