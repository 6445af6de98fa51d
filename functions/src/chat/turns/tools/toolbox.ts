import { z } from 'zod';
import { once } from '#shared/lib/once.ts';
import type { Caller, ToolDeclaration } from '#shared/ports/ports.ts';
import { BUILT_IN_TOOL_NAMES } from '#functions/config/environment.ts';

/** Whose call it is, and how to tell it from others. */
export interface ToolCallOrigin {
  caller: Caller;
  conversationId: string;
  /** Of the turn that makes the call. */
  seq: number;
  /**
   * `t_<seq>:<call index>`: the same for every attempt at the same call, so that a tool with an effect can
   * see that it has been there before.
   */
  key: string;
}

export interface ToolCallContext extends ToolCallOrigin {
  /** The user was asked and allowed the call. */
  isApproved: boolean;
  /** Fires at the tool's time limit, when the user stops the turn, and when the process ends. */
  signal: AbortSignal;
}

/** A function that the model may call and that this server runs. */
export interface ServerTool<Parameters extends z.ZodObject = z.ZodObject> {
  /** As the model calls it: a letter, then letters, digits and `_`; at most 64 characters. */
  name: string;
  /** What it does and when to use it, for the model. */
  description: string;
  /** Checked before `run`; the model sees it as JSON Schema, and every violation as an error response. */
  parameters: Parameters;
  timeoutMs: number;
  /** Whether the user is asked before this call runs; absent: never. Where it throws, the user is asked. */
  needsApproval?(args: z.infer<Parameters>, origin: ToolCallOrigin): boolean | Promise<boolean>;
  /** It is asked again and again until something has happened: equal calls of it are no loop. */
  polled?: boolean;
  /**
   * The response as the model gets it. An AppError becomes an error response with its public message, any
   * other error one without details.
   */
  run(args: z.infer<Parameters>, context: ToolCallContext): Promise<Record<string, unknown>>;
}

const NAME = /^[A-Za-z]\w{0,63}$/;

/** The functions that this server runs for the model. */
export interface Toolbox {
  find(name: string): ServerTool | undefined;
  /** Names of those that are asked again and again until something has happened. */
  polled: ReadonlySet<string>;
  /** As the model sees them; made when they are first asked for. */
  readonly declarations: readonly ToolDeclaration[];
}

function parametersOf({ parameters }: ServerTool): unknown {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: 'input' });
  return schema;
}

/** Throws Error for a name that no model could call, and for two tools of one name: a fault of the deployment. */
export function createToolbox(tools: readonly ServerTool[]): Toolbox {
  const byName = new Map<string, ServerTool>();
  for (const tool of tools) {
    if (!NAME.test(tool.name))
      throw new Error(
        `the server tool "${tool.name}" needs a name of a letter, then letters, digits and _, at most 64 in all`,
      );
    if (byName.has(tool.name)) throw new Error(`there are two server tools named "${tool.name}"`);
    byName.set(tool.name, tool);
  }
  const declarations = once(() =>
    tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      parametersJsonSchema: parametersOf(tool),
    })),
  );
  return {
    find: (name) => byName.get(name),
    polled: new Set(tools.filter(({ polled }) => polled === true).map(({ name }) => name)),
    get declarations() {
      return declarations();
    },
  };
}

const builtInNames: readonly string[] = BUILT_IN_TOOL_NAMES;

/** Whether a name is that of a tool that the code of an app has defined. */
export const isToolOfApp = (toolbox: Pick<Toolbox, 'find'>, name: string): boolean =>
  !builtInNames.includes(name) && toolbox.find(name) !== undefined;

/**
 * The tools of one turn: of those that the app defined only those of `names`, which its step before the turn has chosen;
 * undefined: all. A name stands for a function that every instance has, so whichever takes the turn over finds it again.
 */
export function toolboxOfTurn(toolbox: Toolbox, names: readonly string[] | undefined): Toolbox {
  if (names === undefined) return toolbox;
  const isOffered = (name: string) => builtInNames.includes(name) || names.includes(name);
  return {
    find: (name) => (isOffered(name) ? toolbox.find(name) : undefined),
    polled: toolbox.polled,
    declarations: toolbox.declarations.filter(({ name }) => isOffered(name)),
  };
}
