import { modelRegistry, VERIFIED_ON, type RegistryEntry } from '#shared/models/model-registry.ts';
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
function scannedConstants(): ScannedConstant[] {
  return globSync(['functions/src/**/*.ts', 'shared/**/*.ts'], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted()
    .flatMap(constantsOf);
}

const tables: readonly [title: string, file: string, table: string][] = [
  ['When a conversation is compacted', 'shared/compaction/constants.ts', 'policyConstants'],
  ['Size of a snapshot', 'shared/compaction/constants.ts', 'snapshotConstants'],
  ['Summaries and their check', 'shared/compaction/constants.ts', 'engineConstants'],
  ['Tool outputs', 'shared/conversation/context/tool-output-constants.ts', 'toolOutputConstants'],
  ['Token estimate', 'shared/tokens/token-constants.ts', 'tokenConstants'],
];

/** A number of a table, and the comment above it. */
const tableEntry =
  /(?:  (?<comment>\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n)?  (?<name>\w+): (?<value>[^\n]+),\n/g;

/** The numbers of a table in a file, each with its comment. */
function tableConstants(file: string, table: string): Omit<ScannedConstant, 'unit'>[] {
  const source = readFileSync(new URL(file, root), 'utf8');
  const start = source.indexOf(`export const ${table} = {`);
  const text = source.slice(start, source.indexOf('\n};', start) + 1);
  return [...text.matchAll(tableEntry)].map(
    ({ groups: { comment = '', name = '', value = '' } = {} }) => ({
      name,
      value: value.replaceAll('_', ','),
      why: plainText(comment),
      file,
    }),
  );
}

/** Constants without a comment. */
export const silentConstants = (): Pick<ScannedConstant, 'name' | 'file'>[] =>
  [
    ...tables.flatMap(([, file, table]) => tableConstants(file, table)),
    ...scannedConstants(),
  ].filter(({ why }) => why === '');

const chapter = ([title, file, table]: (typeof tables)[number]): string =>
  [
    `## ${title}`,
    '',
    '| Name | Value | Unit: origin (changed by) |',
    '| --- | --- | --- |',
    ...tableConstants(file, table).map(
      ({ name, value, why }) => `| \`${name}\` | ${value} | ${why} |`,
    ),
  ].join('\n');

const tokensText = (tokens: number | undefined) => tokens?.toLocaleString('en') ?? 'not known';

function pricesText({ prices = [] }: RegistryEntry): string {
  const texts = prices.map(({ from, rates: { input, cached, output, above } }) => {
    const more = above
      ? `; prompts above ${tokensText(above.promptTokens)}: ${above.input} / ${above.cached} / ${above.output}`
      : '';
    return `from ${from}: ${input} / ${cached} / ${output}${more}`;
  });
  return texts.length === 0 ? 'not known' : texts.join('<br>');
}

function retirementText({ retirement }: RegistryEntry): string {
  if (retirement === undefined) return '–';
  const { geminiApi = 'no day', vertex = 'no day', successor } = retirement;
  return `${geminiApi} / ${vertex} → \`${successor}\``;
}

function modelsChapter(): string {
  const rows = Object.entries(modelRegistry).map(([name, entry]) => {
    const limits = `${tokensText(entry.windowTokens)} / ${tokensText(entry.outputTokens)}`;
    const cachedFrom = entry.cacheFromTokens?.toLocaleString('en') ?? '–';
    return `| \`${name}\` | ${limits} | ${cachedFrom} | ${pricesText(entry)} | ${retirementText(entry)} | ${entry.origin} |`;
  });
  return [
    '## Models',
    '',
    `Verified on ${VERIFIED_ON}. A name covers its versions. Prices are US dollars for a million tokens: input / cached / output. ` +
      'A model without a price is charged at the dearest one here. `models` in the document `config/compaction` changes entries, ' +
      '`MODEL_PRICES` and `MODEL_WINDOWS` win over both.',
    '',
    '| Model | Window / longest answer, tokens | Cached from, tokens | Prices | Shut down (Gemini API / Vertex AI) → successor | Origin |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function scannedChapter(): string {
  const rows = scannedConstants().map(
    ({ name, value, unit, why, file }) =>
      `| \`${name}\` | ${value} | ${unit} | ${why} | code: \`${file}\` |`,
  );
  return [
    '## What single modules set for themselves',
    '',
    '| Name | Value | Unit | Why | Changed by |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** The text of `docs/reference/constants.md`: every number that the code uses, from the code itself. */
export function constantsDocument(): string {
  const introduction =
    'Every number that the functions use and no deployment sets, with its unit, its origin and what changes it ' +
    '(what a deployment sets is in [configuration](configuration.md)). ' +
    'This page is written by `npm run generate` from the code.';
  return `# Constants\n\n${[
    introduction,
    ...tables.map(chapter),
    modelsChapter(),
    scannedChapter(),
  ].join('\n\n')}\n`;
}
