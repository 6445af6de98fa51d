import type { ToolDeclaration } from '#shared/ports/ports.ts';
import { stringsIn, type Content } from '#shared/models/content.ts';
import { readJsonText } from './read-document.ts';
import { z } from 'zod';

/** A function that the app runs, as a conversation declares it. */
export const clientToolSchema = z.object({
  name: z.string(),
  description: z.string().optional(),
  /** JSON Schema of the arguments, an object. */
  parameters: z.record(z.string(), z.unknown()),
  /** The app asks its user before it runs it; nothing to the server. */
  needsApproval: z.boolean().optional(),
  /** Asked again and again until something has happened: equal calls of it are no loop. */
  polled: z.boolean().optional(),
});
type ClientTool = z.infer<typeof clientToolSchema>;

const clientToolsSchema = z.array(clientToolSchema);

/**
 * The app's tools as a conversation document stores them: as JSON text, because schemas may hold what documents may
 * not.
 */
export const readClientTools = ({ toolsJson }: { toolsJson?: string | undefined }): ClientTool[] =>
  toolsJson === undefined
    ? []
    : readJsonText(clientToolsSchema, { text: toolsJson, field: 'toolsJson' }, []).value;

/** What decides about declarations: a conversation, and what of it a prompt holds. */
interface Declaring {
  /** The app's own, as the conversation document has them. */
  toolsJson?: string | undefined;
  /** What this server runs. */
  serverTools?: readonly ToolDeclaration[] | undefined;
  coveredThrough: { seq: number };
  contents: readonly Content[];
}

const FOLDED_TOOL = 'recall_history';
const BLOB_TOOL = 'read_blob';

/** A shortened output says by which call its full text comes back. */
const namesBlob = (contents: readonly Content[]): boolean =>
  contents.some(({ role, parts }) => {
    const responses = parts.filter(({ functionResponse }) => functionResponse !== undefined);
    return stringsIn([{ role, parts: responses }]).some((text) => text.includes(`${BLOB_TOOL}("`));
  });

/** Whether a tool of the server has something to do in this context: the model is told of no other. */
function isOfUse({ name }: ToolDeclaration, { coveredThrough, contents }: Declaring): boolean {
  if (name === FOLDED_TOOL) return coveredThrough.seq > 0;
  return name === BLOB_TOOL ? namesBlob(contents) : true;
}

/** An app's tool as the model sees it. */
export const toDeclaration = ({ name, description, parameters }: ClientTool): ToolDeclaration => ({
  name,
  ...(description !== undefined && { description }),
  parametersJsonSchema: parameters,
});

/**
 * The functions that the model is told of, those of the server first: the one answer for the call, the meter
 * and `/context`. Of two with one name the server's stands. `undefined` where there are none.
 */
export function declaredTools(declaring: Declaring): ToolDeclaration[] | undefined {
  const { serverTools = [] } = declaring;
  const taken = new Set(serverTools.map(({ name }) => name));
  const declared = [
    ...serverTools.filter((tool) => isOfUse(tool, declaring)),
    ...readClientTools(declaring)
      .filter(({ name }) => !taken.has(name))
      .map(toDeclaration),
  ];
  return declared.length === 0 ? undefined : declared;
}
