import { build, type BuildOptions, type BuildResult, type Plugin } from 'esbuild';
import { moduleWrapper } from './runtime/compiled.ts';
import { withoutUnusedProtos } from './unused-protos.ts';
import type { Files } from './zip.ts';

/** Stays a package: the buildpack starts it, and functions register with it. */
export const FRAMEWORK = '@google-cloud/functions-framework';

/** SDKs by the names of their getters in `sdk.cjs`. */
const sdks = {
  firestore: '@google-cloud/firestore',
  pubsub: '@google-cloud/pubsub',
  genai: '@google/genai',
  auth: 'google-auth-library',
} as const;

/** What may be in an archive: the functions, what they share, packages, and the two files that start them. */
const ALLOWED_INPUT =
  /^(?:functions\/src\/|shared\/|node_modules\/|infra\/package\/runtime\/|sdk:|<stdin>)/;
/** Never, wherever it stands: tests, and what may hold secrets. */
const REFUSED_INPUT = /(?:\.test\.[cm]?[jt]s|\.env[^/]*|\.pem|\.key)$/;

/** Each SDK comes from `sdk.cjs`, which evaluates it when it is first imported. */
const sdksElsewhere: Plugin = {
  name: 'sdks-elsewhere',
  setup(input) {
    const getters = new Map<string, string>(Object.entries(sdks).map(([key, name]) => [name, key]));
    const filter = new RegExp(`^(?:${[...getters.keys()].join('|')})$`);
    input.onResolve({ filter }, ({ path }) => ({ path, namespace: 'sdk' }));
    input.onLoad({ filter, namespace: 'sdk' }, ({ path }) => ({
      contents: `module.exports = require('./sdk.cjs').${getters.get(path) ?? ''};`,
    }));
  },
};

/** zod's messages in forty languages are a fifth of the bundle; errors are worded in English. */
const englishZod: Plugin = {
  name: 'english-zod',
  setup(input) {
    input.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: `export { default as en } from './en.js';`,
    }));
  },
};

/** Of the files that `main.cjs` loads. */
const withinWrapper = { banner: { js: moduleWrapper.before }, footer: { js: moduleWrapper.after } };

const options = (rootDirectory: string): BuildOptions & { metafile: true; write: false } => ({
  absWorkingDir: rootDirectory,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node24',
  // `import()` becomes a lazy `require`, which finds the names of CommonJS modules.
  supported: { 'dynamic-import': false },
  external: [FRAMEWORK, `${FRAMEWORK}/testing`, './index.cjs', './main.cjs', './sdk.cjs'],
  legalComments: 'external',
  // The same names of modules on every machine, wherever node_modules lies.
  preserveSymlinks: true,
  tsconfigRaw: {},
  logLevel: 'silent',
  metafile: true,
  write: false,
});

/** Throws Error that names what is bundled and must not be, and who asked for it. */
export function checkInputs(
  inputs: Readonly<Record<string, { imports: readonly { path: string }[] }>>,
): void {
  const wrong = Object.keys(inputs).filter(
    (path) => !ALLOWED_INPUT.test(path) || REFUSED_INPUT.test(path),
  );
  if (wrong.length === 0) return;
  const named = wrong.map((path) => {
    const by = Object.keys(inputs).find((each) =>
      inputs[each]?.imports.some((imported) => imported.path === path),
    );
    return `  ${path}${by === undefined ? '' : `, imported by ${by}`}`;
  });
  throw new Error(
    `only functions/src, shared and packages are shipped; take these imports out:\n${named.join('\n')}`,
  );
}

const contentsOf = ({ outputFiles = [] }: BuildResult, rootDirectory: string) =>
  outputFiles.map(
    ({ path, contents }) => [path.slice(rootDirectory.length + 1), contents] as const,
  );

/**
 * The functions as CommonJS: `index.cjs` with its source map, `sdk.cjs` with Google's SDKs, and the two small
 * files that load and warm them. CommonJS, because gRPC does not load from an ES module that was bundled.
 * Throws esbuild's BuildFailure, or an Error for a file that must not be shipped.
 */
export async function bundleFunctions(rootDirectory: string): Promise<Files> {
  const common = options(rootDirectory);
  const sdkGetters = Object.entries(sdks)
    .map(([key, name]) => `get ${key}() { return require('${name}'); }`)
    .join(', ');
  const functions = await build({
    ...common,
    ...withinWrapper,
    entryPoints: ['functions/src/index.ts'],
    outfile: `${rootDirectory}/index.cjs`,
    plugins: [sdksElsewhere, englishZod],
    sourcemap: 'linked',
    sourcesContent: false,
  });
  checkInputs(functions.metafile.inputs);
  const others = await Promise.all([
    build({
      ...common,
      ...withinWrapper,
      stdin: { contents: `module.exports = { ${sdkGetters} };`, resolveDir: rootDirectory },
      outfile: `${rootDirectory}/sdk.cjs`,
      plugins: [withoutUnusedProtos],
      // Ours is not minified: Node prints the line that an uncaught error comes from.
      minifyWhitespace: true,
    }),
    build({
      ...common,
      entryPoints: ['infra/package/runtime/main.ts', 'infra/package/runtime/warm.ts'],
      outdir: rootDirectory,
      outExtension: { '.js': '.cjs' },
    }),
  ]);
  for (const { metafile } of others) checkInputs(metafile.inputs);
  return new Map([functions, ...others].flatMap((result) => contentsOf(result, rootDirectory)));
}
