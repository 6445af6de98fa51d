import type { Files } from './zip.ts';
import { isSource } from '#infra/local/script-path.ts';
import { moduleWrapper } from './runtime/compiled.ts';
import { type Plugin, build, type BuildOptions, type BuildResult } from 'esbuild';
import { realpathSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Classes of messages that Google's SDKs only hand on to whoever wants them; what is sent is made of descriptions. */
const UNUSED_CLASSES =
  /[\\/](?:(?:firestore-api|pubsub-api|pubsub)[\\/]build[\\/]protos[\\/]protos|google-gax[\\/]build[\\/]protos[\\/](?:iam_service|locations))\.js$/;

/** Firestore's SDK looks for one that its pipelines use. */
const NO_CLASSES = 'module.exports = { google: { firestore: { v1: {} } } };';

/** Describes what Firestore and its administration are sent. */
const FIRESTORE_PROTOS = /[\\/]firestore-api[\\/]build[\\/]protos[\\/]protos\.json$/;

/** Describes a service that tells of regions: every client has a client of it, which it opens only to close it. */
const LOCATIONS_PROTOS = /[\\/]google-gax[\\/]build[\\/]protos[\\/]locations\.json$/;

/** The service without what it can be asked. */
const NO_LOCATIONS = ['Locations', 'location', 'cloud', 'google'].reduce<object>(
  (inner, name) => ({ nested: { [name]: inner } }),
  { methods: {} },
);

const PROTO_LOADER = /[\\/]@grpc[\\/]proto-loader[\\/]build[\\/]src[\\/]index\.js$/;

/** Throws Error where a text is not what it was when this was written. */
function replaceOnce(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2)
    throw new Error(`an SDK has changed (infra/package/bundle.ts): ${from} is not in it once`);
  return text.replace(from, () => to);
}

/** Without the packages of the administration. */
const documentProtos = (json: string): string =>
  JSON.stringify(JSON.parse(json), (key, value: unknown) =>
    key === 'admin' || key === 'longrunning' || key === 'api' ? undefined : value,
  );

/** Without descriptors, which a server tells its clients of: for each kind of them code would be generated. */
const withoutDescriptors = (source: string): string =>
  [
    ['require("protobufjs/ext/descriptor")', '{}'],
    ["const descriptorList = root.toDescriptor('proto3').file;", 'const descriptorList = [];'],
    ["const messageDescriptor = message.toDescriptor('proto3');", ''],
    ['messageDescriptor.$type.toObject(messageDescriptor, descriptorOptions)', '{}'],
    ["const enumDescriptor = enumType.toDescriptor('proto3');", ''],
    ['enumDescriptor.$type.toObject(enumDescriptor, descriptorOptions)', '{}'],
  ].reduce((text, [from = '', to = '']) => replaceOnce(text, from, to), source);

/**
 * Leaves out of Google's SDKs what no function sends: a client describes every message that it could send when it is
 * made, which was a fifth of what a first message takes of the processor.
 */
const withoutUnusedProtos: Plugin = {
  name: 'without-unused-protos',
  setup(input) {
    input.onLoad({ filter: UNUSED_CLASSES }, () => ({ contents: NO_CLASSES }));
    input.onLoad({ filter: LOCATIONS_PROTOS }, () => ({
      contents: JSON.stringify(NO_LOCATIONS),
      loader: 'json',
    }));
    input.onLoad({ filter: FIRESTORE_PROTOS }, async ({ path }) => ({
      contents: documentProtos(await readFile(path, 'utf8')),
      loader: 'json',
    }));
    input.onLoad({ filter: PROTO_LOADER }, async ({ path }) => ({
      contents: withoutDescriptors(await readFile(path, 'utf8')),
    }));
  },
};

/** Stays a package: the buildpack starts it, and functions register with it. */
export const FRAMEWORK = '@google-cloud/functions-framework';

/** The API document, as the archive has it. */
export const DOCUMENT = 'openapi.json';

/** SDKs by the names of their getters in `sdk.cjs`. */
const sdks = {
  firestore: '@google-cloud/firestore',
  pubsub: '@google-cloud/pubsub',
  genai: '@google/genai',
  auth: 'google-auth-library',
} as const;

/** What an archive is made of. */
export interface Project {
  /** Absolute, without a slash at the end. */
  root: string;
  /** The module that exports the functions; relative to the root. */
  entry: string;
  /** What may be in it; relative to the root. */
  allowedInput: RegExp;
  /** Of packages that are linked, not copied: named by their links, which are the same on every machine. */
  preserveSymlinks: boolean;
  /** Locks the framework; of the repository also what package.json asks for. */
  lock: 'own' | 'recap';
}

/** The repository: the functions, what they share, packages, and the two files that start them. */
export const repository = (root: string): Project => ({
  root,
  entry: 'functions/src/index.ts',
  allowedInput:
    /^(?:functions\/src\/|shared\/|node_modules\/|infra\/package\/runtime\/|sdk:|<stdin>)/,
  preserveSymlinks: true,
  lock: 'own',
});

/**
 * An app's project: whatever its entry imports, by whichever package manager it was installed. Packages that pnpm links find
 * theirs where they really are.
 */
export const appProject = (root: string, entry: string): Project => ({
  root: realpathSync(root),
  entry,
  allowedInput: /^/,
  preserveSymlinks: false,
  lock: 'recap',
});

/** The API document stays a file, at `path` from the bundle: no start reads it. */
export const documentAt = (path: string): Plugin => ({
  name: 'document-elsewhere',
  setup(input) {
    input.onResolve({ filter: /\/reference\/openapi\.json$/ }, () => ({ path, external: true }));
  },
});

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

const options = ({
  root,
  preserveSymlinks,
}: Project): BuildOptions & { metafile: true; write: false } => ({
  absWorkingDir: root,
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node24',
  // `import()` becomes a lazy `require`, which finds the names of CommonJS modules.
  supported: { 'dynamic-import': false },
  external: [FRAMEWORK, `${FRAMEWORK}/testing`, './index.cjs', './main.cjs', './sdk.cjs'],
  legalComments: 'external',
  preserveSymlinks,
  tsconfigRaw: {},
  logLevel: 'silent',
  metafile: true,
  write: false,
});

/** A private key in a text, also as JSON writes it: its first line, and more behind it than a source that only names it. */
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:\\r|\\n|\s)+[A-Za-z0-9+/=]{32}/;

/** Whether a file of the project itself holds a private key. */
async function holdsKey(root: string, path: string): Promise<boolean> {
  // What is no file of the project: packages, and what plugins make.
  if (/(?:^|\/)node_modules\/|^[\w-]{2,}:|^<stdin>$/.test(path)) return false;
  return PRIVATE_KEY.test(await readFile(join(root, path), 'utf8'));
}

/** Throws Error that names what is bundled and must not be, and who asked for it. */
async function checkInputs(
  { root, allowedInput }: Project,
  inputs: Readonly<Record<string, { imports: readonly { path: string }[] }>>,
): Promise<void> {
  const isWrong = await Promise.all(
    Object.keys(inputs).map(
      async (path) =>
        !allowedInput.test(path) || REFUSED_INPUT.test(path) || (await holdsKey(root, path)),
    ),
  );
  const wrong = Object.keys(inputs).filter((_, index) => isWrong[index]);
  if (wrong.length === 0) return;
  const named = wrong.map((path) => {
    const by = Object.keys(inputs).find((each) =>
      inputs[each]?.imports.some((imported) => imported.path === path),
    );
    return `  ${path}${by === undefined ? '' : `, imported by ${by}`}`;
  });
  throw new Error(
    `sources of the functions and packages are shipped, no tests and no secrets; take these imports out:\n${named.join('\n')}`,
  );
}

const contentsOf = ({ outputFiles = [] }: BuildResult, { root }: Project) =>
  outputFiles.map(({ path, contents }) => [path.slice(root.length + 1), contents] as const);

/** The two files that load and warm the functions: sources here, in the package built before. */
async function runtimeFiles(project: Project): Promise<Files> {
  if (!isSource) {
    const read = (name: string) => readFile(new URL(`./runtime/${name}`, import.meta.url));
    return new Map([
      ['main.cjs', await read('main.cjs')],
      ['warm.cjs', await read('warm.cjs')],
    ]);
  }
  const built = await build({
    ...options(project),
    entryPoints: ['infra/package/runtime/main.ts', 'infra/package/runtime/warm.ts'],
    outdir: project.root,
    outExtension: { '.js': '.cjs' },
  });
  await checkInputs(project, built.metafile.inputs);
  return new Map(contentsOf(built, project));
}

/**
 * The functions as CommonJS: `index.cjs` with its source map, `sdk.cjs` with Google's SDKs, and the two small
 * files that load and warm them. CommonJS, because gRPC does not load from an ES module that was bundled.
 * Throws esbuild's BuildFailure, or an Error for a file that must not be shipped.
 */
export async function bundleFunctions(project: Project): Promise<Files> {
  const common = options(project);
  const sdkGetters = Object.entries(sdks)
    .map(([key, name]) => `get ${key}() { return require('${name}'); }`)
    .join(', ');
  const functions = await build({
    ...common,
    ...withinWrapper,
    entryPoints: [project.entry],
    outfile: `${project.root}/index.cjs`,
    plugins: [sdksElsewhere, englishZod, documentAt(`./${DOCUMENT}`)],
    sourcemap: 'linked',
    sourcesContent: false,
  });
  await checkInputs(project, functions.metafile.inputs);
  const sdkFile = await build({
    ...common,
    ...withinWrapper,
    // Where an app's packages do not lie side by side, Recap finds its own.
    stdin: { contents: `module.exports = { ${sdkGetters} };`, resolveDir: import.meta.dirname },
    outfile: `${project.root}/sdk.cjs`,
    plugins: [withoutUnusedProtos],
    // Ours is not minified: Node prints the line that an uncaught error comes from.
    minifyWhitespace: true,
  });
  await checkInputs(project, sdkFile.metafile.inputs);
  return new Map([
    ...contentsOf(functions, project),
    ...contentsOf(sdkFile, project),
    ...(await runtimeFiles(project)),
  ]);
}
