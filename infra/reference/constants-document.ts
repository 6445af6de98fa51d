import { scannedConstants } from './scanned-constants.ts';
import type { ConstantTable } from '#shared/constant.ts';
import { engineConstants } from '#shared/compaction/engine-constants.ts';
import { policyConstants } from '#shared/compaction/policy-constants.ts';
import { snapshotConstants } from '#shared/compaction/snapshot-constants.ts';
import { toolOutputConstants } from '#shared/compaction/tool-output-constants.ts';
import { registry, VERIFIED_ON, type RegistryEntry } from '#shared/models/registry.ts';
import { tokenConstants } from '#shared/tokens/token-constants.ts';

const chapters: readonly [title: string, table: ConstantTable][] = [
  ['When a conversation is compacted', policyConstants],
  ['Size of a snapshot', snapshotConstants],
  ['Summaries and their check', engineConstants],
  ['Tool outputs', toolOutputConstants],
  ['Token estimate', tokenConstants],
];

function chapter([title, table]: readonly [string, ConstantTable]): string {
  const rows = Object.entries(table).map(
    ([name, { value, unit, origin, configure }]) =>
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
