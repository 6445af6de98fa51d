import { z } from 'zod';
import { jsonFault } from '#shared/bounded-json.ts';
import { toDeclaration } from '#shared/conversation/documents/declared-tools.ts';
import type { Part } from '#shared/conversation/documents/content.ts';
import type {
  OpenAiAssistantMessage,
  OpenAiTool,
  OpenAiToolCall,
  OpenAiToolMessage,
} from '#shared/wire/facades/openai.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import { toolsSchema } from '#shared/wire/resources/tools.ts';
import type { ToolDeclaration } from '#shared/ports/ports.ts';
import { badField } from './bad-field.ts';

/* Calls of a dialogue that the client keeps itself: nothing of them is known here but what it sends. */

/** A function without parameters has none. */
const NO_PARAMETERS = { type: 'object', properties: {} };

const declared = z.object({ tools: toolsSchema });
const argumentsSchema = z.record(z.string(), z.unknown());

/** A client's functions as tools of a conversation. Throws BAD_FIELD. */
export function toClientTools(tools: readonly OpenAiTool[]): z.infer<typeof toolsSchema> {
  const given = tools.map(({ function: { name, description, parameters } }) => ({
    name,
    ...(typeof description === 'string' && { description }),
    parameters: parameters ?? NO_PARAMETERS,
  }));
  return parseRequest(declared, { tools: given }).tools;
}

/** The same as a model is told of them. */
export const toDeclarations = (tools: readonly OpenAiTool[]): ToolDeclaration[] =>
  toClientTools(tools).map(toDeclaration);

function argumentsOf(text: string, field: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch {
    throw badField(field, `\`${field}\` must be a JSON object in a text.`);
  }
  const fault = jsonFault(value);
  if (fault !== undefined) throw badField(field, `\`${field}\` ${fault}.`);
  const parsed = argumentsSchema.safeParse(value);
  if (!parsed.success) throw badField(field, `\`${field}\` must be a JSON object in a text.`);
  return parsed.data;
}

/** What a model has signed, of what a client keeps of it; undefined for what it has not made. */
export type OpenSignature = (kept: string) => string | undefined;

/** The calls of an assistant's message, the `index`th of its request, with the ids that tell which result is whose. Throws BAD_FIELD. */
export const toCallParts = (
  { tool_calls: calls }: OpenAiAssistantMessage,
  { index, openSignature }: { index: number; openSignature: OpenSignature },
): Part[] =>
  (calls ?? []).map(({ id, function: { name, arguments: args }, extra_content: extra }, place) => {
    const kept = extra?.google?.thought_signature;
    const signature = kept === undefined ? undefined : openSignature(kept);
    const field = `messages[${index}].tool_calls[${place}].function.arguments`;
    return {
      functionCall: { id, name, args: argumentsOf(args, field) },
      ...(signature !== undefined && { thoughtSignature: signature }),
    };
  });

/** JSON as what it says, any other text as it is: this protocol knows texts alone. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What an app gave to a call of the messages before. `called`: names of their functions by the ids of the calls.
 * Throws BAD_FIELD where there is none such.
 */
export function toResponsePart(
  { tool_call_id: id }: OpenAiToolMessage,
  { called, index, text }: { called: ReadonlyMap<string, string>; index: number; text: string },
): Part {
  const name = called.get(id);
  if (name === undefined) {
    const field = `messages[${index}].tool_call_id`;
    throw badField(
      field,
      `\`${field}\` answers no call of the messages before it. Send the message of the assistant with its \`tool_calls\`, too.`,
    );
  }
  const value = jsonOrText(text);
  const fault = jsonFault(value);
  if (fault !== undefined) throw badField(`messages[${index}].content`, `The content ${fault}.`);
  const response = isObject(value) ? value : { output: value };
  return { functionResponse: { id, name, response } };
}

/** The calls of an answer as the client is told of them. `id` makes their ids differ from those of other answers. */
export const toOpenAiCalls = (
  parts: readonly Part[],
  { id, seal }: { id: string; seal: (signature: string) => string },
): OpenAiToolCall[] =>
  parts
    .filter(({ functionCall }) => functionCall !== undefined)
    .map(({ functionCall, thoughtSignature }, index) => ({
      id: `call_${id}_${index}`,
      type: 'function',
      function: {
        name: functionCall?.name ?? '',
        arguments: JSON.stringify(functionCall?.args ?? {}),
      },
      ...(thoughtSignature !== undefined && {
        extra_content: { google: { thought_signature: seal(thoughtSignature) } },
      }),
    }));
