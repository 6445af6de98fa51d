import type { ArgDef, ArgsDef, CommandDef } from 'citty';
import { aligned } from '../text-table.ts';
import { connectionArgs } from './arguments.ts';

/** A command, the names that lead to it, and the arguments behind them. */
export interface CommandPlace {
  command: CommandDef;
  names: readonly string[];
  rest: string[];
}

type Resolvable<T extends object> = T | Promise<T> | (() => T) | (() => Promise<T>);

/** What citty takes as a value, a promise of one, or a function that makes it. */
export const resolved = async <T extends object>(value: Resolvable<T>): Promise<T> =>
  typeof value === 'function' ? value() : value;

const exitCodes = 'Exit code: 0 fine; 1 something was found, or failed; 2 wrong arguments.';

const optionText = (name: string, arg: ArgDef): string => {
  const hint = 'valueHint' in arg ? arg.valueHint : undefined;
  const choices = 'options' in arg ? arg.options?.join('|') : undefined;
  return `  --${name}${hint || choices ? ` ${hint ?? choices}` : ''}`;
};

const descriptionOf = ({ description = '', default: value }: ArgDef): string =>
  typeof value === 'string' ? `${description} (default ${value})` : description;

const optionRows = (args: ArgsDef): string[][] =>
  Object.entries(args)
    .filter(([, { type }]) => type !== 'positional')
    .map(([name, arg]) => [optionText(name, arg), descriptionOf(arg)]);

const leftAligned = (rows: readonly string[][]) => aligned(rows, [0, 1]);

async function commandRows(command: CommandDef): Promise<string[][]> {
  const commands = command.subCommands ? await resolved(command.subCommands) : {};
  return Promise.all(
    Object.entries(commands).map(async ([name, sub]) => {
      const meta = await resolved((await resolved(sub)).meta ?? {});
      return [`  ${name}`, meta.description ?? ''];
    }),
  );
}

const isShared = (name: string) => Object.hasOwn(connectionArgs, name);

/** How a command is used: its arguments, or the commands below it. */
export async function helpText({ command, names }: CommandPlace): Promise<string> {
  const meta = await resolved(command.meta ?? {});
  const args: ArgsDef = command.args ? await resolved(command.args) : {};
  const commands = await commandRows(command);
  const positionals = Object.entries(args)
    .filter(([, { type }]) => type === 'positional')
    .map(([name, { required }]) =>
      required === true ? name.toUpperCase() : `[${name.toUpperCase()}]`,
    );
  const what = commands.length > 0 ? ['COMMAND'] : positionals;
  const own = Object.fromEntries(Object.entries(args).filter(([name]) => !isShared(name)));
  const ownRows = optionRows(own);
  return [
    `Usage: npm run ops -- ${[...names, ...what, '[options]'].join(' ')}`,
    '',
    meta.description ?? '',
    ...(commands.length > 0 ? ['', leftAligned(commands)] : []),
    ...(ownRows.length > 0 ? ['', leftAligned(ownRows)] : []),
    '',
    names.length === 0 ? 'Options of every command:' : 'As with every command:',
    leftAligned([...optionRows(connectionArgs), ['  --help', 'this text, or that of a command']]),
    '',
    exitCodes,
  ].join('\n');
}
