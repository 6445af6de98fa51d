import { ArgumentError, readOptions } from '../eval/replay/replay-arguments.ts';
import { runCommand } from '#test/support/processes/run-command.ts';
import { scaleSizes, scaleTable, type Size } from './scale-tables.ts';

const help = `Usage: npm run cost:scale [-- --users N[,N…]]

Prints what so many daily users ask of a deployment in their busiest minutes, and what they cost a month: the table of
docs/guides/scale.md, which npm run cost:monthly writes. Prices and assumptions: lab/monthly-cost/monthly-cost.ts and
scale.ts.

  --users N  daily users, several with commas between them
  --help     this text

Exit code: 0 printed; 2 wrong arguments.`;

const options = {
  users: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

/** Instances fill up with the users, as in the sizes of the page. */
function sizeOf(text: string): Size {
  const users = Number(text);
  if (!Number.isInteger(users) || users < 1)
    throw new ArgumentError(`--users is a whole number from 1, not ${text}`);
  const { atOnce } = scaleSizes.findLast((size) => size.users <= users) ?? { atOnce: 2 };
  return { users, atOnce };
}

process.exitCode = await runCommand(help, (argv) => {
  const values = readOptions(argv, options);
  if (values.help) return Promise.resolve('help');
  const sizes = values.users === undefined ? scaleSizes : values.users.split(',').map(sizeOf);
  process.stdout.write(`${scaleTable(sizes)}\n`);
  return Promise.resolve(0);
});
