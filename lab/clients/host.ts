import { columnNames, type Cell, type ColumnName, type Places } from './columns.ts';
import { observe, saidBy } from './observe.ts';
import { rowFiles } from './rows.ts';

/*
 * A process that runs one row, so that no library meets what another has put into the global scope: `node host.ts ROW`.
 * Its parent gives it the places of each column and gets the cells.
 */

/** What the parent sends: the places of each column that is to be run. */
export type Order = Partial<Record<ColumnName, Places>>;
/** What it gets. */
export type Reply = { column: ColumnName; cell: Cell } | { failure: string };

const [, , name = ''] = process.argv;

// A library that forgets a promise is no reason to lose the row.
process.on('unhandledRejection', () => undefined);
process.on('disconnect', () => process.exit(0));

async function run(order: Order): Promise<void> {
  const file = rowFiles.find(({ names }) => names.includes(name));
  const row = (await file?.load())?.rows[name];
  if (row === undefined) throw new Error(`there is no row ${name}`);
  for (const column of columnNames) {
    const places = order[column];
    if (places === undefined) continue;
    const reply: Reply = { column, cell: await observe(row[column], places) };
    process.send?.(reply);
  }
}

process.once('message', (order) => {
  run(order as Order)
    .catch((error: unknown) => process.send?.({ failure: saidBy(error) } satisfies Reply))
    .finally(() => process.disconnect());
});
