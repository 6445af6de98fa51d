import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  compileTypeScript,
  createAppFolder,
  type Complaints,
  type SourceFile,
} from './compile-recipes.ts';
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
const pages = pageModules();
const modules: SourceFile[] = pages.flatMap(({ blocks }) => blocks);

const settings: [name: string, compilerOptions: object, files: (file: string) => boolean][] = [
  ['strict settings', { ...WEB, ...STRICT }, () => true],
  ['Expo’s settings', EXPO, (file) => !file.startsWith('callable') && !file.startsWith('firebase')],
  [
    'Expo’s settings with all strict ones',
    { ...EXPO, ...STRICT },
    (file) => /native|recap/.test(file),
  ],
];

let app: Awaited<ReturnType<typeof createAppFolder>>;
beforeAll(async () => {
  app = await createAppFolder(modules);
});
afterAll(() => app.remove());

describe.each(settings)('under %s', (name, compilerOptions, takes) => {
  let complaints: Complaints;
  const compiled = [...recipes, ...modules.map((file) => file.name)].filter(takes);
  beforeAll(async () => {
    complaints = await compileTypeScript(app.folder, { files: compiled, compilerOptions });
  });

  test.each(compiled)(`%s compiles under ${name}`, (file) => {
    expect(complaints.filter((line) => line.startsWith(`${file}(`))).toEqual([]);
  });

  test(`nothing else is wrong with the recipes under ${name}`, () => {
    expect(complaints).toEqual([]);
  });
});
