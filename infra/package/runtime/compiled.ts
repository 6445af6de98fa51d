import { isAscii } from 'node:buffer';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** What a CommonJS file has at hand. */
interface Scope {
  module: { exports: unknown };
  require: (name: string) => unknown;
  file: string;
  directory: string;
}

/** Files of a folder as modules whose code is compiled already. */
export interface CompiledModules {
  /** What `require` of a file of the folder gives. */
  load: (name: string) => unknown;
  /** Writes the code of what has been loaded beside it: of every function that has run. */
  keep: () => void;
}

const compiledOf = (file: string) => `${file}.compiled`;

/** What stands around the code of such a file; put there when it is packed, for it would take a copy of megabytes. */
export const moduleWrapper = {
  before:
    '(function (scope) { var { module, require, file: __filename, directory: __dirname } = scope, { exports } = module;',
  after: '})',
} as const;

/** A file as text. One of ASCII alone, as the SDKs are, is read in a fifth of the time where nothing has to be decoded. */
function textOf(file: string): string {
  const bytes = readFileSync(file);
  return bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
}

/** V8 passes over what another version of it compiled, or out of a file of another length; nothing changes in an image. */
function scriptOf(file: string): Script {
  let cachedData: Buffer | undefined;
  try {
    cachedData = readFileSync(compiledOf(file));
  } catch {
    // Nobody kept any: the image is being built.
  }
  return new Script(textOf(file), { filename: file, cachedData });
}

/**
 * Loads CommonJS files, each within `moduleWrapper`, with the code that `keep` wrote when the image was built. Node's own
 * compile cache keeps a file as it is when it has just been read, without the functions that are compiled when they are
 * first called: those are a seventh of what a first message takes. `names` are the files of `directory` that are kept in this way, in whichever of
 * them they are asked for.
 */
export function compiledModules(directory: string, names: readonly string[]): CompiledModules {
  const scripts = new Map<string, Script>();
  const modules = new Map<string, Scope['module']>();
  const requireIn = (file: string) => {
    const others = createRequire(file);
    return (asked: string): unknown => {
      const name = names.find((each) => asked === `./${each}`);
      return name === undefined ? others(asked) : load(name);
    };
  };
  function load(name: string): unknown {
    const known = modules.get(name);
    if (known) return known.exports;
    const file = join(directory, name);
    const script = scriptOf(file);
    scripts.set(file, script);
    const module: Scope['module'] = { exports: {} };
    modules.set(name, module);
    const evaluate = script.runInThisContext() as (scope: Scope) => void;
    evaluate({ module, require: requireIn(file), file, directory: dirname(file) });
    return module.exports;
  }
  return {
    load,
    keep: () => {
      for (const [file, script] of scripts)
        writeFileSync(compiledOf(file), script.createCachedData());
    },
  };
}
