import { constants, existsSync } from 'node:fs';
import { access, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isSource } from './local/script-path.ts';
import { parseArgs, type ParseArgsConfig } from 'node:util';

/** A mistake on the command line; the message names the flag. */
export class ArgumentError extends Error {}

/**
 * How one of Recap's commands is called, with what follows it: `npm run smoke -- --url URL` in the repository, `npx recap
 * smoke --url URL` in the project of an app.
 */
export function recapCommand(
  name: 'dev' | 'package' | 'ops' | 'smoke',
  following?: string,
): string {
  if (!isSource) return `npx recap ${name} ${following ?? ''}`.trimEnd();
  const command = name === 'dev' ? 'npm start' : `npm run ${name}`;
  return following === undefined ? command : `${command} -- ${following}`.trimEnd();
}

type Options = NonNullable<ParseArgsConfig['options']>;

const reasonFor = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

function parsed<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (cause) {
    throw new ArgumentError(reasonFor(cause), { cause });
  }
}

/** `parseArgs` with file arguments, whose mistakes are ArgumentErrors. */
export const readCommandLine = <Known extends Options>(argv: readonly string[], options: Known) =>
  parsed(() => parseArgs({ args: [...argv], options, allowPositionals: true }));

/** The options of a command that takes no file arguments. Throws ArgumentError, for one that is given, too. */
export const readOptions = <Known extends Options>(argv: readonly string[], options: Known) =>
  parsed(() => parseArgs({ args: [...argv], options, allowPositionals: false }).values);

/** Undefined for an option that was not given. Throws ArgumentError. */
export function readInteger(flag: string, text: string): number;
export function readInteger(flag: string, text: string | undefined): number | undefined;
export function readInteger(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,9}$/.test(text))
    throw new ArgumentError(`${flag} takes a whole number from 1, not ${JSON.stringify(text)}`);
  return Number(text);
}

const fractions = {
  '(0, 1)': { words: 'between 0 and 1', holds: (value: number) => value > 0 && value < 1 },
  '(0, 1]': { words: 'above 0 and at most 1', holds: (value: number) => value > 0 && value <= 1 },
  '[0, 1]': { words: 'from 0 to 1', holds: (value: number) => value >= 0 && value <= 1 },
};

/** A number within the bounds. Throws ArgumentError. */
export function readFraction(flag: string, text: string, bounds: keyof typeof fractions): number {
  const value = Number(text);
  const { words, holds } = fractions[bounds];
  if (text.trim() === '' || !holds(value))
    throw new ArgumentError(`${flag} takes a number ${words}, not ${JSON.stringify(text)}`);
  return value;
}

/** One of the choices. Throws ArgumentError. */
export function readChoice<Choice extends string>(
  flag: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((each) => each === text);
  if (choice === undefined)
    throw new ArgumentError(`${flag} takes ${choices.join(' or ')}, not ${JSON.stringify(text)}`);
  return choice;
}

/** Throws ArgumentError, naming the option, for a file that cannot be read. */
export async function readGivenFile(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new ArgumentError(`${option} ${path} cannot be read: ${reasonFor(cause)}`, { cause });
  }
}

/** What `parse` makes of a file. Throws ArgumentError where it throws. */
export function parseGiven<Result>(
  { path, text }: { path: string; text: string },
  parse: (text: string) => Result,
): Result {
  try {
    return parse(text);
  } catch (cause) {
    throw new ArgumentError(`${path}: ${reasonFor(cause)}`, { cause });
  }
}

/** Before the work whose figures a file shall hold; makes no file. Throws ArgumentError where it cannot be written. */
export async function checkWritable(option: string, path: string | undefined): Promise<void> {
  if (path === undefined) return;
  if (path === '') throw new ArgumentError(`${option} takes a path, not an empty text`);
  try {
    if (existsSync(path)) await (await open(path, constants.O_WRONLY)).close();
    else await access(dirname(path), constants.W_OK);
  } catch (cause) {
    throw new ArgumentError(`${option} ${path} cannot be written: ${reasonFor(cause)}`, { cause });
  }
}

/**
 * Runs a command of this repository: prints `help` when `command` answers 'help', and beside what is wrong with
 * the arguments. Resolves to the exit code; 2 for an ArgumentError. Every other error is thrown on.
 */
export async function runCommand(
  help: string,
  command: (argv: string[]) => Promise<number | 'help'>,
): Promise<number> {
  try {
    const code = await command(process.argv.slice(2));
    if (code !== 'help') return code;
    process.stdout.write(`${help}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    process.stderr.write(`${error.message}\n\n${help}\n`);
    return 2;
  }
}
