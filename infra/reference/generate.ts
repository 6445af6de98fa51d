import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { readOptions, runCommand } from '../command-line.ts';
import { format } from 'oxfmt';
import { z } from 'zod';
import { apiDocument, openApiText, servedDocument } from './api-document.ts';
import { clientTypes } from './client-types.ts';
import { configurationDocument } from './configuration-document.ts';
import { constantsDocument, silentConstants } from './constants-document.ts';
import { deploymentSettings } from './deployment-settings.ts';
import { errorsDocument } from './errors-document.ts';
import { readModule } from './terraform-module.ts';

const help = `Usage: npm run generate [-- --check]

Writes what is made from the code: docs/reference (configuration, constants, errors, API), the types of clients/typescript,
terraform/settings.json, and the tables of terraform/README.md.

  --check   writes nothing and names what is not up to date
  --help    this text

Exit code: 0 written, or all is up to date; 1 something is not, or a constant has no comment; 2 wrong arguments.`;

const root = new URL('../../', import.meta.url);
const readText = (path: string) => readFile(new URL(path, root), 'utf8');

const styleSchema = z.looseObject({ overrides: z.unknown(), ignorePatterns: z.unknown() });

/** As `npm run format` does it. */
async function formatted(path: string, text: string): Promise<string> {
  const settings = styleSchema.parse(JSON.parse(await readText('.oxfmtrc.json')));
  const { overrides: _overrides, ignorePatterns: _ignored, ...style } = settings;
  const { code, errors } = await format(path, text, style);
  if (errors.length > 0) throw new Error(`${path} cannot be formatted: ${JSON.stringify(errors)}`);
  return code;
}

/** The guide with each row of its tables of variables and outputs as the module says it. */
async function terraformGuide(): Promise<string> {
  const path = 'terraform/README.md';
  const { variables, outputs } = await readModule(fileURLToPath(new URL('terraform', root)));
  // The parser sorts by name; the guide has the order of the files.
  const files = `${await readText('terraform/variables.tf')}${await readText('terraform/outputs.tf')}`;
  const inOrder = (blocks: typeof variables, keyword: string) =>
    blocks.toSorted(
      (a, b) => files.indexOf(`${keyword} "${a.name}"`) - files.indexOf(`${keyword} "${b.name}"`),
    );
  const shown = (value: unknown) =>
    value === undefined ? '**must be set**' : `\`${JSON.stringify(value)}\``;
  const tables = {
    Variables: [
      '| Variable | Default | Meaning |',
      '| --- | --- | --- |',
      ...inOrder(variables, 'variable').map(
        ({ name, body }) =>
          `| \`${name}\` | ${shown(body['default'])} | ${String(body['description'])} |`,
      ),
    ],
    Outputs: [
      '| Output | Meaning |',
      '| --- | --- |',
      ...inOrder(outputs, 'output').map(
        ({ name, body }) => `| \`${name}\` | ${String(body['description'])} |`,
      ),
    ],
  };
  let text = await readText(path);
  for (const [heading, rows] of Object.entries(tables)) {
    const table = new RegExp(String.raw`(## ${heading}\n\n)(?:\|.*\n)+`, 'u');
    if (!table.test(text)) throw new Error(`${path} has no table under "${heading}"`);
    text = text.replace(table, (_, title: string) => `${title}${rows.join('\n')}\n`);
  }
  return formatted(path, text);
}

const outputs: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/reference/configuration.md': configurationDocument,
  'docs/reference/constants.md': constantsDocument,
  'docs/reference/errors.md': errorsDocument,
  'docs/reference/openapi.json': openApiText,
  'docs/reference/api.md': () => apiDocument(servedDocument()),
  'clients/typescript/src/wire/wire.ts': async () =>
    formatted('clients/typescript/src/wire/wire.ts', await clientTypes()),
  'terraform/settings.json': deploymentSettings,
  'terraform/README.md': terraformGuide,
};

async function generate(isCheck: boolean): Promise<0 | 1> {
  const silent = silentConstants();
  for (const { file, name } of silent) console.error(`${file}: ${name} has no comment`);
  let isCurrent = silent.length === 0;
  for (const [path, textOf] of Object.entries(outputs)) {
    const text = await textOf();
    if ((await readText(path)) === text) continue;
    if (isCheck) {
      console.error(`${path} is not up to date: npm run generate`);
      isCurrent = false;
    } else {
      await writeFile(new URL(path, root), text);
      console.log(path);
    }
  }
  return isCurrent ? 0 : 1;
}

process.exitCode = await runCommand(help, async (argv) => {
  const wanted = readOptions(argv, { check: { type: 'boolean' }, help: { type: 'boolean' } });
  return wanted.help === true ? 'help' : generate(wanted.check === true);
});
