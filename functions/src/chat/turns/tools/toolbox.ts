import { z } from 'zod';
import { once } from '#shared/once.ts';
import type { ToolDeclaration } from '#shared/ports/ports.ts';
import type { ServerTool } from './server-tool.ts';

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
