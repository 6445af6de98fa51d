import { findAll, type FactMatch } from '../index/fact-match.ts';
import { holdsSign, signs } from '../index/signs.ts';

/** What every path has: a slash, or a point before its extension. */
const mayHold = /[/\\]|\.[A-Za-z0-9]/;
/** One run of what stands in paths; taken apart by code, so that the expression is linear. */
const run = /(?<![\w.~/@\\-])[\w.~/@\\:+#-]{3,400}/g;
const extensions = new Set(
  'ts tsx js jsx mjs cjs json jsonl yaml yml toml md mdx txt csv tsv py ipynb rb go rs java kt swift c h cc cpp hpp cs php sh bash zsh ps1 sql html htm css scss less vue svelte xml svg png jpg jpeg gif webp pdf doc docx xls xlsx ppt pptx zip gz tar lock log env ini cfg conf tf proto graphql wasm bin parquet'.split(
    ' ',
  ),
);
const trailing = /[.:+#@-]{1,9}$/;
const position = /:\d{1,6}(?::\d{1,6})?$/;
const windows = /^[A-Za-z]:\\[\w.\\ -]+/;
const rooted = /^(?:~|\.{1,2})?\/[\w.@+-]+/;

function hasExtension(path: string): boolean {
  const [, extension = ''] = /\.([A-Za-z0-9]{1,8})$/.exec(path) ?? [];
  return extensions.has(extension.toLowerCase());
}

/** Properties that look like an extension, by the names in front of them: `console.log`, `process.env`. */
const properties: Readonly<Record<string, ReadonlySet<string>>> = {
  log: new Set(['console', 'math', 'cmath', 'np', 'numpy', 'torch', 'tf', 'jnp', 'logger', 'std']),
  env: new Set(['process', 'meta', 'os', 'bun', 'deno']),
  lock: new Set(['mutex', 'threading', 'asyncio']),
};
/** Products that are called like a file. */
const products =
  /^(?:Node|Next|Nuxt|Nest|Vue|React|Angular|Express|Ember|Three|D3|Chart|Moment)\.js$/;
const argumentsBehind = /^\((?!\d)/;

/** Whether a name without a slash is a property, a call or a product. */
function isNoFile(path: string, behind: string): boolean {
  if (/[/\\]/.test(path)) return false;
  if (products.test(path) || argumentsBehind.test(behind)) return true;
  const [extension = '', owner = ''] = path.toLowerCase().split('.').toReversed();
  const isOfObject = /^(?:this|self)\./.test(path);
  return isOfObject || properties[extension]?.has(owner) === true;
}

/**
 * Rooted paths of two names or more, any path that ends in a known file extension, scoped packages.
 * `and/or`, `1/2` and `km/h` are none.
 */
function isPath(path: string): boolean {
  if (windows.test(path) || /^@[a-z][\w-]*\/[\w./-]+$/.test(path)) return true;
  if (!/[A-Za-z]/.test(path)) return false;
  if (hasExtension(path)) return /^[\w.~/@\\+-]+$/.test(path) && !/^\.\w+$/.test(path);
  if (rooted.test(path)) return path.split('/').filter((name) => name !== '').length > 1;
  return /^[\w.-]{2,}(?:\/[\w.-]+){2,}\/?$/.test(path) && /[a-z]/.test(path);
}

/** Paths of files and directories. Heuristic: a relative directory needs three names; `name.json(…)` is a call. */
export function findPaths(text: string): FactMatch[] {
  if (!holdsSign(text, signs.slash | signs.join) || !mayHold.test(text)) return [];
  return findAll(text, run, (match) => {
    if (!mayHold.test(match[0])) return undefined;
    const path = match[0].replace(trailing, '').replace(position, '');
    const name = path.replace(/^@(?=[\w.-]+\/[\w.-]+\/|[\w.-]+\.\w+$)/, '');
    if (!isPath(path) && !isPath(name)) return undefined;
    const end = match.index + path.length;
    if (isNoFile(path, text.slice(end, end + 2))) return undefined;
    const key = name.replaceAll('\\', '/').replace(/^\.\//, '').replace(/\/$/, '');
    return {
      kind: 'path',
      start: match.index,
      end,
      readings: [key],
    };
  });
}
