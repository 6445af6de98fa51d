import { readFileSync, writeFileSync } from 'node:fs';
import { endedByArguments } from '#test/support/only-help.ts';
import { monitoring } from '#test/terraform/texts.ts';
import { betweenMarks, costTable, restTable } from './cost-tables.ts';
import { scalePart } from './scale-tables.ts';

const help = `Usage: npm run cost:monthly

Writes the tables of costs in docs/operations.md, docs/deploy.md and docs/guides/scale.md anew, from the prices and assumptions in
lab/monthly-cost/monthly-cost.ts and the counts in lab/monthly-cost/document-counts.ts. Then: npx prettier --write docs.

  --help   this text

Exit code: 0 written; 2 wrong arguments.`;

async function write(): Promise<0> {
  const { conditions } = await monitoring();
  const tables = {
    'operations.md': costTable(),
    'deploy.md': restTable(conditions),
    'guides/scale.md': scalePart(),
  };
  for (const [name, table] of Object.entries(tables)) {
    const file = new URL(`../../docs/${name}`, import.meta.url);
    writeFileSync(file, betweenMarks(readFileSync(file, 'utf8'), table));
  }
  return 0;
}

process.exitCode = endedByArguments(help) ?? (await write());
