import { globSync, readFileSync } from 'node:fs';

/** A number that a module declares for itself. */
interface ScannedConstant {
  name: string;
  /** As written: `450 * 1024`. */
  value: string;
  unit: string;
  /** The comment that stands above it, or above its group. */
  why: string;
  file: string;
}

const root = new URL('../../', import.meta.url);
const declaration =
  /(?:(?<comment>\/\*\*(?:(?!\*\/)[\s\S])*?\*\/|(?:\/\/[^\n]*\n)+)\s*)?(?:export )?const (?<name>[A-Z][A-Z0-9_]*) = (?<value>[\d(][^;]*);[ \t]*(?:\/\/ (?<tail>[^\n]*))?/g;

const unitBySuffix: Readonly<Record<string, string>> = {
  MS: 'ms',
  SECONDS: 's',
  BYTES: 'bytes',
  TOKENS: 'tokens',
  CHARACTERS: 'characters',
  FRACTION: 'share',
  TRIES: 'times',
  ATTEMPTS: 'times',
};

const unitOf = (name: string) =>
  name
    .split('_')
    .toReversed()
    .flatMap((word) => unitBySuffix[word] ?? [])[0] ?? 'number';

const plainText = (comment: string) =>
  comment
    .replaceAll(/^\s*(?:\/\*\*|\*\/|\*|\/\/)/gm, '')
    .replaceAll('*/', '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .trim();

/** gRPC's own numbers; they are nobody's choice. */
const foreign = new Set(['functions/src/adapters/firestore/store-errors.ts']);

function constantsOf(file: string): ScannedConstant[] {
  const source = readFileSync(new URL(file, root), 'utf8');
  let lastEnd = -1;
  let why = '';
  return [...source.matchAll(declaration)].map(({ index, 0: text, groups = {} }) => {
    const { comment, name = '', value = '', tail } = groups;
    // A line that follows the one before it without a comment of its own belongs to its group.
    const isGrouped = comment === undefined && source.slice(lastEnd, index).trim() === '';
    if (!isGrouped) why = plainText(comment ?? tail ?? '');
    lastEnd = index + text.length;
    return { name, value: value.replaceAll(/\s+/g, ' '), unit: unitOf(name), why, file };
  });
}

/** Every numeric constant in capitals that the functions declare, by file. */
export function scannedConstants(): ScannedConstant[] {
  return globSync(['functions/src/**/*.ts', 'shared/**/*.ts'], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !foreign.has(file))
    .toSorted()
    .flatMap(constantsOf);
}
