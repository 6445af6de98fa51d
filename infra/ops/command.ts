import { defineCommand, type ArgsDef, type CommandDef, type ParsedArgs } from 'citty';
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
  /** Told once a command has ended. */
  ended: (code: ExitCode) => void;
}

interface Invocation<T extends ArgsDef> {
  args: ParsedArgs<T>;
  project: Project;
  screen: Screen;
}

interface OpsCommand<T extends ArgsDef> {
  name: string;
  description: string;
  args: T;
  run: (invocation: Invocation<T>) => Promise<ExitCode>;
}

/** Makes a command of the command line: what it is given, a project that is open, and a code to end with. */
export const opsCommand =
  <const T extends ArgsDef>({ name, description, args, run }: OpsCommand<T>) =>
  ({ screen, open, ended }: Surroundings): CommandDef => {
    const all = { ...args, ...connectionArgs };
    const command = defineCommand({
      meta: { name, description },
      args: all,
      run: async (context) => {
        const { project, database, local, port, json } = context.args;
        const envFile = context.args['env-file'];
        await using opened = await open({ project, database, local, port, envFile });
        screen.setJson(json === true);
        // The arguments of the command are among all of them.
        ended(await run({ args: context.args as ParsedArgs<T>, project: opened, screen }));
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
