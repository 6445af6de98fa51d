import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { defineCommand, runCommand, type ArgsDef, type CommandDef } from 'citty';
import { AppError } from '#shared/errors.ts';
import { type ExitCode, type Surroundings } from './command.ts';
import { ArgumentError } from './arguments.ts';
import { compactCommand } from './commands/compact.ts';
import { compareCommand } from './commands/compare.ts';
import { contextCommand } from './commands/context.ts';
import { conversationsCommand } from './commands/conversations.ts';
import { deadLettersCommand } from './commands/dead-letters.ts';
import { eraseCommand } from './commands/erase.ts';
import { importCommand } from './commands/import.ts';
import { restoreCommand } from './commands/restore.ts';
import { showCommand } from './commands/show.ts';
import { usageCommand } from './commands/usage.ts';
import { verifyCommand } from './commands/verify.ts';
import { helpText, resolved, type CommandPlace } from './help.ts';

const mainCommand = (surroundings: Surroundings): CommandDef =>
  defineCommand({
    meta: { name: 'npm run ops --', description: 'Operates a deployment of Recap.' },
    subCommands: {
      conversations: conversationsCommand(surroundings),
      show: showCommand(surroundings),
      context: contextCommand(surroundings),
      compact: compactCommand(surroundings),
      restore: restoreCommand(surroundings),
      verify: verifyCommand(surroundings),
      compare: compareCommand(surroundings),
      'dead-letters': deadLettersCommand(surroundings),
      usage: usageCommand(surroundings),
      erase: eraseCommand(surroundings),
      import: importCommand(surroundings),
    },
  });

/** The command that the arguments name, and what is left of them. Throws ArgumentError for an unknown one. */
async function placeOf(main: CommandDef, rawArgs: readonly string[]): Promise<CommandPlace> {
  let command = main;
  const names: string[] = [];
  let rest = [...rawArgs];
  for (;;) {
    const commands = command.subCommands && (await resolved(command.subCommands));
    const [name, ...others] = rest;
    if (!commands || name === undefined || name.startsWith('-')) return { command, names, rest };
    const next = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (!next)
      throw new ArgumentError(
        `there is no command ${[...names, name].join(' ')}; there are ${Object.keys(commands).join(', ')}`,
      );
    command = await resolved(next);
    names.push(name);
    rest = others;
  }
}

/** citty takes options that nobody knows, and arguments that are too many. */
async function refuseUnknown({ command, rest }: CommandPlace): Promise<void> {
  const args: ArgsDef = command.args ? await resolved(command.args) : {};
  const options: ParseArgsOptionsConfig = {};
  for (const [name, { type }] of Object.entries(args))
    if (type !== 'positional')
      options[name] = { type: type === 'boolean' ? ('boolean' as const) : ('string' as const) };
  try {
    const { positionals } = parseArgs({ args: rest, options, allowPositionals: true });
    const takes = Object.values(args).find(({ type }) => type === 'positional');
    if (!takes && positionals.length > 0)
      throw new ArgumentError(`it takes no ${JSON.stringify(positionals[0])}`);
    if (takes?.required === true && positionals.length > 1)
      throw new ArgumentError(`it takes one argument, not also ${JSON.stringify(positionals[1])}`);
  } catch (error) {
    throw error instanceof ArgumentError || !(error instanceof Error)
      ? error
      : new ArgumentError(error.message);
  }
}

const isCittyError = (error: Error) => error.name === 'CLIError';

/** What a failure is called, with a remedy where it has one; the exit code. */
function tellFailure(note: (text: string) => void, error: unknown): ExitCode {
  if (error instanceof ArgumentError || (error instanceof Error && isCittyError(error))) {
    note(`${error.message}\n(npm run ops -- --help lists commands and options)`);
    return 2;
  }
  if (error instanceof AppError) {
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    const text = error.reason === 'INVALID_CONFIGURATION' ? error.message : error.publicMessage;
    note(
      error.reason === 'STORE_UNAVAILABLE'
        ? `${error.message}${cause}\nIs the project right, and are you signed in (gcloud auth application-default login)? With an emulator: does it run where FIRESTORE_EMULATOR_HOST says?`
        : `${error.reason}: ${text}`,
    );
    return error.reason === 'INVALID_CONFIGURATION' ? 2 : 1;
  }
  note(error instanceof Error ? error.message : String(error));
  return 1;
}

/** Runs one command. Never throws: what goes wrong is told on stderr. Resolves to the exit code. */
export async function runOps(
  rawArgs: readonly string[],
  surroundings: Omit<Surroundings, 'ended'>,
): Promise<ExitCode> {
  let code: ExitCode = 0;
  const main = mainCommand({ ...surroundings, ended: (ended) => (code = ended) });
  try {
    const place = await placeOf(main, rawArgs);
    const isHelp = rawArgs.includes('--help') || rawArgs.includes('-h');
    if (isHelp || place.command.run === undefined) {
      surroundings.screen.print(await helpText(place));
      return isHelp || rawArgs.length === 0 ? 0 : 2;
    }
    await refuseUnknown(place);
    await runCommand(place.command, { rawArgs: place.rest });
    return code;
  } catch (error) {
    return tellFailure((text) => surroundings.screen.note(text), error);
  }
}
