import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compileTypeScript, createAppFolder, type SourceFile } from './compile-recipes.ts';
import { pageModules } from './page-modules.ts';

/** The strictest of what apps are compiled with. */
const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
};

const WEB = {
  target: 'es2023',
  lib: ['ES2023', 'DOM', 'DOM.Iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  jsx: 'react-jsx',
  types: [],
  skipLibCheck: true,
  noEmit: true,
};

/** What `expo/tsconfig.base` sets (Expo SDK 56), with the `strict` of a new app. */
const EXPO = {
  allowJs: true,
  esModuleInterop: true,
  jsx: 'react-native',
  lib: ['DOM', 'ESNext'],
  module: 'preserve',
  moduleDetection: 'force',
  moduleResolution: 'bundler',
  customConditions: ['react-native'],
  noEmit: true,
  resolveJsonModule: true,
  skipLibCheck: true,
  target: 'ESNext',
  strict: true,
  types: [],
};

const recipes = readdirSync(new URL('../../docs/clients/recipes/', import.meta.url)).filter(
  (file) => /\.tsx?$/.test(file),
);
const modules: SourceFile[] = pageModules().flatMap(({ blocks }) => blocks);

let app: Awaited<ReturnType<typeof createAppFolder>>;
beforeAll(async () => {
  app = await createAppFolder(modules);
});
afterAll(() => app.remove());

const isForExpo = (file: string) => !file.startsWith('callable') && !file.startsWith('firebase');

test.each([
  ['strict settings', { ...WEB, ...STRICT }, () => true],
  ['Expo’s settings', EXPO, isForExpo],
])(
  'the TypeScript recipes and the code of the pages compile under %s',
  async (_, compilerOptions, takes) => {
    const files = [...recipes, ...modules.map((file) => file.name)].filter(takes);

    expect(await compileTypeScript(app.folder, { files, compilerOptions })).toEqual([]);
  },
);
