import { globSync, readFileSync } from 'node:fs';
import { dirname, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Rules of the source tree that oxlint has no rule for; `npm run lint` runs this. Circular imports, and what a room may
 * import of packages, stand in .oxlintrc.json.
 */

const SOURCES = [
  '{functions,shared,infra,web,test,lab,docs}/**/*.{ts,tsx}',
  'lab/bench/peers/*/*.js',
  '*.ts',
];
/** Read by people and by tests of other files. */
const SAMPLES = /^docs\//;
/** Packages of their own, where `#` names nothing of ours. */
const FOREIGN = /^lab\/bench\/peers\/[^/]+\//;

const rooms: Readonly<Record<string, string>> = {
  '#functions/': 'functions/src/',
  '#shared/': 'shared/',
  '#infra/': 'infra/',
  '#test/': 'test/',
  '#lab/': 'lab/',
  '#web/': 'web/src/',
  '#docs/': 'docs/',
};

/** Paths relative to the root of the repository, with their text. */
type Sources = Readonly<Record<string, string>>;

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

/** What a specifier names, as a path of the repository; undefined: a package. */
function target(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return posix.join(dirname(file), specifier);
  const room = Object.keys(rooms).find((name) => specifier.startsWith(name));
  return room === undefined ? undefined : `${rooms[room]}${specifier.slice(room.length)}`;
}

const named = /\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'([^']+)'/g;
const whole = /(?:\*\s+as\s+\w+\s+from\s+|\bimport\(\s*)'([^']+)'/g;
const declared =
  /^export (?:async |abstract )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;

/** Every `file#name` that some other file imports; `file#*` where it is imported whole. */
function importedNames(sources: Sources): Set<string> {
  const found = new Set<string>();
  for (const [file, text] of Object.entries(sources)) {
    for (const [, names = '', specifier = ''] of text.matchAll(named))
      for (const name of names.split(','))
        found.add(
          `${target(file, specifier)}#${
            name
              .replace(/\btype\s/, '')
              .trim()
              .split(' ')[0]
          }`,
        );
    for (const [, specifier = ''] of text.matchAll(whole))
      found.add(`${target(file, specifier)}#*`);
  }
  return found;
}

function unusedExports(sources: Sources): string[] {
  const imported = importedNames(sources);
  return Object.entries(sources).flatMap(([file, text]) =>
    (SAMPLES.test(file) ? [] : [...text.matchAll(declared)])
      .map(([, name = '']) => name)
      .filter((name) => !imported.has(`${file}#${name}`) && !imported.has(`${file}#*`))
      .map((name) => `${file} exports ${name}, which nothing imports`),
  );
}

const climbing = /(?:from\s+|\bimport\(\s*)'(?:\.\.\/){2}(?!(?:\.\.\/)*package\.json)/;

const climbingImports = (sources: Sources): string[] =>
  Object.entries(sources)
    .filter(([file, text]) => climbing.test(withoutComments(text)) && !FOREIGN.test(file))
    .map(
      ([file]) =>
        `${file} imports from more than one level above; say #shared/…, #functions/… and so on`,
    );

/**
 * The layers of the code, the lowest first: a file imports from its own layer and from those before it, never from a
 * later one. The longest path that a file begins with says which is its own.
 */
const layers: readonly (readonly string[])[] = [
  ['shared/lib/', 'shared/text/'],
  ['shared/models/', 'shared/tokens/', 'shared/ports/', 'shared/store/'],
  ['shared/conversation/'],
  ['shared/hooks/'],
  ['shared/compaction/'],
  ['shared/'], // The features: memory, recall, quota, search, …
  ['shared/wire/'],
  ['functions/src/lib/', 'functions/src/app.ts'],
  ['functions/src/config', 'functions/src/models/', 'functions/src/adapters/'],
  [
    'context/',
    'erasure/',
    'events/',
    'guests/',
    'memory/',
    'quota/',
    'recall/',
    'common-dependencies',
  ].map((name) => `functions/src/${name}`),
  ['turns', 'conversations', 'features', 'context', 'chat-dependencies', 'not-found']
    .map((name) => `functions/src/chat/${name}`)
    .concat('functions/src/app-steps.ts', 'functions/src/worker/'),
  ['functions/src/', 'functions/src/worker/push/'], // Routes, deliveries, and what puts the functions together.
];

function layerOf(file: string): number | undefined {
  const [longest] = layers
    .flatMap((prefixes, layer) => prefixes.map((prefix) => ({ prefix, layer })))
    .filter(({ prefix }) => file.startsWith(prefix))
    .toSorted((one, other) => other.prefix.length - one.prefix.length);
  return longest?.layer;
}

const specifiers = /(?:\bfrom\s+|\bimport\(\s*)'([^']+)'/g;

const importsOfLaterLayers = (sources: Sources): string[] =>
  Object.entries(sources).flatMap(([file, text]) => {
    const layer = layerOf(file);
    if (layer === undefined) return [];
    return [...withoutComments(text).matchAll(specifiers)].flatMap(([, specifier = '']) => {
      const path = target(file, specifier);
      return path !== undefined && (layerOf(path) ?? layer) > layer
        ? [`${file} imports ${path}, which is of a later layer`]
        : [];
    });
  });

/** What is wrong with a tree of sources, a sentence each. */
const sourceProblems = (sources: Sources): string[] => [
  ...climbingImports(sources),
  ...importsOfLaterLayers(sources),
  ...unusedExports(sources),
];

function readSources(root: string): Sources {
  const files = globSync(SOURCES, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] });
  return Object.fromEntries(
    files.map((file) => [file.replaceAll('\\', '/'), readFileSync(`${root}/${file}`, 'utf8')]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const sources = readSources(root);
  const problems = sourceProblems(sources);
  for (const problem of problems) console.error(problem);
  const where = relative(process.cwd(), root) || '.';
  console.log(`${Object.keys(sources).length} files in ${where}: ${problems.length} problems`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
