import { stripVTControlCharacters } from 'node:util';
import { defineCommand, renderUsage, runCommand } from 'citty';
import { AppError } from '#shared/lib/errors.ts';
import type { ExitCode, Surroundings } from './command.ts';
import { ArgumentError, recapCommand } from '#infra/command-line.ts';
import { compactCommand } from './commands/compact.ts';
import { configCommand } from './commands/config.ts';
import { contextCommand } from './commands/context.ts';
import { conversationsCommand } from './commands/conversations.ts';
import { deadLettersCommand } from './commands/dead-letters.ts';
import { eraseCommand } from './commands/erase.ts';
import { importCommand } from './commands/import.ts';
import { restoreCommand } from './commands/restore.ts';
import { showCommand } from './commands/show.ts';
import { usageCommand } from './commands/usage.ts';
import { verifyCommand } from './commands/verify.ts';

const commands = {
  conversations: conversationsCommand,
  show: showCommand,
  context: contextCommand,
  compact: compactCommand,
  restore: restoreCommand,
  verify: verifyCommand,
  'dead-letters': deadLettersCommand,
  usage: usageCommand,
  config: configCommand,
  erase: eraseCommand,
  import: importCommand,
};

const isCommandName = (name: string): name is keyof typeof commands =>
  Object.hasOwn(commands, name);

const mainCommand = (surroundings: Surroundings) =>
  defineCommand({
    meta: {
      name: recapCommand('ops', ''),
      description:
        'Operates a deployment of Recap. Exit code: 0 fine; 1 something was found, or failed; 2 wrong arguments.',
    },
    subCommands: Object.fromEntries(
      Object.entries(commands).map(([name, create]) => [name, create(surroundings)]),
    ),
  });

/** What a failure is called, with a remedy where it has one; the exit code. */
function tellFailure(note: (text: string) => void, error: unknown): ExitCode {
  const isOfArguments = error instanceof ArgumentError;
  // An error of citty's own class, which it does not export.
  if (isOfArguments || (error instanceof Error && error.name === 'CLIError')) {
    const text = stripVTControlCharacters(error.message);
    note(`${text}\n(${recapCommand('ops', '--help')} lists commands, COMMAND --help its options)`);
    return 2;
  }
  if (!(error instanceof AppError)) {
    note(error instanceof Error ? error.message : String(error));
    return 1;
  }
  const isOfConfiguration = error.reason === 'INVALID_CONFIGURATION';
  if (error.reason === 'STORE_UNAVAILABLE') {
    const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    note(
      `${error.message}${cause}\nIs the project right, and are you signed in (gcloud auth application-default login)? With an emulator: does it run where FIRESTORE_EMULATOR_HOST says?`,
    );
  } else note(`${error.reason}: ${isOfConfiguration ? error.message : error.publicMessage}`);
  return isOfConfiguration ? 2 : 1;
}

/** Runs one command. Never throws: what goes wrong is told on stderr. Resolves to the exit code. */
export async function runOps(
  rawArgs: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> {
  const [name = '--help', ...rest] = rawArgs;
  const { screen } = surroundings;
  try {
    const command = isCommandName(name) ? commands[name](surroundings) : undefined;
    if ([name, ...rest].some((arg) => arg === '--help' || arg === '-h')) {
      const main = mainCommand(surroundings);
      const usage = command ? await renderUsage(command, main) : await renderUsage(main);
      screen.print(stripVTControlCharacters(usage));
      return 0;
    }
    if (!command)
      throw new ArgumentError(
        `there is no command ${name}; there are ${Object.keys(commands).join(', ')}`,
      );
    const { result } = await runCommand(command, { rawArgs: rest });
    return result as ExitCode;
  } catch (error) {
    return tellFailure((text) => screen.note(text), error);
  }
}
