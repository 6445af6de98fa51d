import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { columnNames, type Cell, type ColumnName } from './columns.ts';
import type { Order, Reply } from './host.ts';
import type { World } from './world.ts';

export type Cells = Partial<Record<ColumnName, Cell>>;

const ROW_MS = 300_000;
const host = fileURLToPath(new URL('host.ts', import.meta.url));

/** As newly installed: no keys, nobody is told. */
const environment = { OPENAI_AGENTS_DISABLE_TRACING: '1', LANGSMITH_TRACING: 'false' };

/** Runs a row in a process of its own; a column that it does not come to is a difference. */
export async function runRow(
  world: World,
  name: string,
  columns: readonly ColumnName[] = columnNames,
): Promise<Cells> {
  const order: Order = {};
  for (const column of columns) order[column] = await world.places();
  const child = fork(host, [name], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const cells: Cells = {};
  let why = 'the row ended before';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (why === 'the row ended before' && /^\w*Error/mu.test(text)) why = text.trim();
  });
  child.on('message', (message) => {
    const reply = message as Reply;
    if ('failure' in reply) why = reply.failure;
    else cells[reply.column] = reply.cell;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), ROW_MS);
  child.send(order);
  await once(child, 'exit');
  clearTimeout(timer);
  for (const column of columns) cells[column] ??= { kind: 'differs', text: why };
  return cells;
}
