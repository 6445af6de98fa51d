import {
  engineConstants,
  policyConstants,
  snapshotConstants,
} from '#shared/compaction/constants.ts';
import type { ConstantTable } from '#shared/lib/constant.ts';
import { toolOutputConstants } from '#shared/conversation/context/tool-output-constants.ts';
import { registry, VERIFIED_ON, type RegistryEntry } from '#shared/models/registry.ts';
import { tokenConstants } from '#shared/tokens/token-constants.ts';
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
export function scannedConstants(): ScannedConstant[] {
  return globSync(['functions/src/**/*.ts', 'shared/**/*.ts'], { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .toSorted()
    .flatMap(constantsOf);
}

const chapters: readonly [title: string, table: ConstantTable][] = [
  ['When a conversation is compacted', policyConstants],
  ['Size of a snapshot', snapshotConstants],
  ['Summaries and their check', engineConstants],
  ['Tool outputs', toolOutputConstants],
  ['Token estimate', tokenConstants],
];

function chapter([title, table]: readonly [string, ConstantTable]): string {
  const rows = Object.entries(table).map(
    ([name, { value, unit, origin, configure = 'fixed' }]) =>
      `| \`${name}\` | ${value.toLocaleString('en')} | ${unit} | ${origin} | ${configure} |`,
  );
  return [
    `## ${title}`,
    '',
    '| Name | Value | Unit | Origin | Changed by |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

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
  const rows = Object.entries(registry).map(([name, entry]) => {
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
    ...chapters.map(chapter),
    modelsChapter(),
    scannedChapter(),
  ].join('\n\n')}\n`;
}
