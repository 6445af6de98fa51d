import { z } from 'zod';
import { jsonFault } from '#shared/bounded-json.ts';
import { toDeclaration } from '#shared/conversation/documents/declared-tools.ts';
import type { Part } from '#shared/conversation/documents/content.ts';
import type {
  OpenAiAssistantMessage,
  OpenAiTool,
  OpenAiToolCall,
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

/** The calls of an assistant's message, the `index`th of its request. Throws BAD_FIELD. */
export const toCallParts = ({ tool_calls: calls }: OpenAiAssistantMessage, index: number): Part[] =>
  (calls ?? []).map(({ function: { name, arguments: args }, extra_content: extra }, place) => {
    const signature = extra?.google?.thought_signature;
    const field = `messages[${index}].tool_calls[${place}].function.arguments`;
    return {
      functionCall: { name, args: argumentsOf(args, field) },
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
 * What an app gave to a call of the function `name`, in the `index`th message of its request. Throws BAD_FIELD where no
 * message before it holds the call.
 */
export function toResponsePart(
  text: string,
  { name, index }: { name: string | undefined; index: number },
): Part {
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
  return { functionResponse: { name, response } };
}

/** The calls of an answer as the client is told of them. `id` makes their ids differ from those of other answers. */
export const toOpenAiCalls = (parts: readonly Part[], id: string): OpenAiToolCall[] =>
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
        extra_content: { google: { thought_signature: thoughtSignature } },
      }),
    }));
