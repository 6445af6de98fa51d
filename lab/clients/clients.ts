import { writeFile } from 'node:fs/promises';
import { ArgumentError, readOptions } from '#lab/eval/replay/replay-arguments.ts';
import { runCommand } from '#test/support/processes/run-command.ts';
import { columnNames, type ColumnName } from './columns.ts';
import { clientVersions, installClients } from './install-clients.ts';
import { rowFiles } from './rows.ts';
import { runRow } from './run-row.ts';
import { clientsPage, printedRow, type Results } from './table.ts';
import { startWorld } from './world.ts';

const help = `Usage: npm run clients [-- options]

Runs client libraries against the chat function, over HTTP, with a store in memory and the fake Gemini. Prints what came
of each trial, having compared it with the state of the server.

  --row TEXT      only rows whose name contains TEXT
  --column NAME   only this column: ${columnNames.join(', ')}
  --no-install    the libraries are installed already
  --report        write docs/reference/clients.md
  --help          this text

Exit code: 0 no cell differs from the state of the server; 1 one does; 2 wrong arguments.`;

const options = {
  row: { type: 'string', default: '' },
  column: { type: 'string' },
  'no-install': { type: 'boolean', default: false },
  report: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const page = new URL('../../docs/reference/clients.md', import.meta.url);

function columnsNamed(name: string | undefined): readonly ColumnName[] {
  if (name === undefined) return columnNames;
  const found = columnNames.filter((column) => column === name);
  if (found.length === 0) throw new ArgumentError(`there is no column ${name}`);
  return found;
}

async function runRows(names: readonly string[], columns: readonly ColumnName[]): Promise<Results> {
  const world = await startWorld();
  try {
    const results: Results = {};
    for (const name of names) {
      const cells = await runRow(world, name, columns);
      results[name] = cells;
      process.stdout.write(printedRow(name, cells));
    }
    return results;
  } finally {
    await world.close();
  }
}

process.exitCode = await runCommand(help, async (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return 'help';
  const columns = columnsNamed(values.column);
  const all = rowFiles.flatMap(({ names }) => names);
  const names = all.filter((name) => name.includes(values.row));
  if (!values['no-install']) await installClients();
  const results = await runRows(names, columns);
  if (values.report) {
    const isWhole = names.length === all.length && columns.length === columnNames.length;
    if (!isWhole)
      throw new ArgumentError('--report writes the whole table: leave --row and --column out');
    await writeFile(page, clientsPage(results, await clientVersions()));
  }
  const cells = Object.values(results).flatMap((row) => Object.values(row));
  return cells.some(({ kind }) => kind === 'differs') ? 1 : 0;
});
