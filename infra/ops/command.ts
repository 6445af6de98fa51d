import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { defineCommand, type ArgsDef, type CommandDef, type ParsedArgs } from 'citty';
import { ArgumentError } from '#infra/command-line.ts';
import { connectionArgs, type ConnectionOptions } from './arguments.ts';
import type { Project } from './project.ts';
import type { Screen } from './screen.ts';

/** 0 fine, 1 something was found or failed, 2 wrong arguments. */
export type ExitCode = 0 | 1 | 2;

/** What a command works in; tests put their own in the place of each part. */
export interface Surroundings {
  screen: Screen;
  /** Throws ArgumentError where it cannot know which project is meant. */
  open: (options: ConnectionOptions) => Promise<Project>;
}

interface OpsCommand<T extends ArgsDef> {
  name: string;
  description: string;
  args: T;
  /** Whether more than one positional argument is taken. Default: no. */
  takesMany?: boolean;
  run: (invocation: { args: ParsedArgs<T>; project: Project; screen: Screen }) => Promise<ExitCode>;
}

/** citty takes options that nobody knows, and arguments that are too many. Throws ArgumentError. */
function refuseUnknown(rawArgs: readonly string[], args: ArgsDef, takesMany: boolean): void {
  const options: ParseArgsOptionsConfig = {};
  let positionals = 0;
  for (const [name, { type }] of Object.entries(args))
    if (type === 'positional') positionals += 1;
    else options[name] = { type: type === 'boolean' ? 'boolean' : 'string' };
  let given: readonly string[];
  try {
    given = parseArgs({ args: [...rawArgs], options, allowPositionals: true }).positionals;
  } catch (error) {
    throw error instanceof Error ? new ArgumentError(error.message) : error;
  }
  const extra = given[positionals];
  if (extra !== undefined && !takesMany)
    throw new ArgumentError(`this command does not take ${JSON.stringify(extra)}`);
}

/** Makes a command of the command line: what it is given, a project that is open, and a code to end with. */
export const opsCommand =
  <const T extends ArgsDef>({ name, description, args, takesMany = false, run }: OpsCommand<T>) =>
  ({ screen, open }: Surroundings): CommandDef => {
    const all = { ...args, ...connectionArgs };
    const command = defineCommand({
      meta: { name, description },
      args: all,
      run: async (context): Promise<ExitCode> => {
        refuseUnknown(context.rawArgs, all, takesMany);
        const { project, database, local, json } = context.args;
        const envFile = context.args['env-file'];
        await using opened = await open({ project, database, local, envFile });
        screen.setJson(json === true);
        // The arguments of the command are among all of them.
        // The project is closed once this has ended.
        return await run({ args: context.args as ParsedArgs<T>, project: opened, screen });
      },
    });
    return command as CommandDef;
  };

/** The options of every command that lists. */
export const pageArgs = (limit: string) =>
  ({
    limit: { type: 'string', valueHint: 'N', default: limit, description: 'at most N of them' },
    after: { type: 'string', valueHint: 'ID', description: 'go on behind this one' },
  }) as const satisfies ArgsDef;

/** The option of every command that changes something. */
export const yesArg = {
  yes: {
    type: 'boolean',
    default: false,
    description: 'do it; without it, only what would be done is told',
  },
} as const satisfies ArgsDef;

/** The argument of every command about one conversation. */
export const conversationArg = {
  conversation: { type: 'positional', required: true, description: 'id of the conversation' },
} as const satisfies ArgsDef;
