import { withClientFields } from '../openai/client-fields.ts';
import {
  clientContextText,
  type ChatCompletionBody,
  type OpenAiTool,
} from '#shared/wire/facades/openai.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import { z } from 'zod';
import type {
  CreateResponseBody,
  ResponsesInputItem,
  ResponsesTool,
} from '#shared/wire/facades/responses/request.ts';
import { joinLast, toMessages, type FieldMessage } from './chat-messages.ts';

/** A request in the words of chat completions, which answer it. */
interface Translated {
  body: ChatCompletionBody;
  /** The field of this request for one of the translation. */
  fieldOf: (field: string) => string;
}

const FIELD_BY_CHAT_FIELD: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_output_tokens',
  'response_format.json_schema.schema': 'text.format.schema',
  reasoning_effort: 'reasoning.effort',
  messages: 'input',
};

export const inputItems = ({ input }: Pick<CreateResponseBody, 'input'>): ResponsesInputItem[] =>
  typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;

const toolOf = ({ name = '', description, parameters }: ResponsesTool): OpenAiTool => ({
  type: 'function',
  function: { name, description, parameters },
});

function formatOf({ text }: CreateResponseBody): Pick<ChatCompletionBody, 'response_format'> {
  const format = text?.format;
  switch (format?.type) {
    case 'json_schema':
      // Without a schema it is any JSON: the AI SDK asks so.
      return format.schema
        ? { response_format: { type: 'json_schema', json_schema: { schema: format.schema } } }
        : { response_format: { type: 'json_object' } };
    case 'json_object':
      return { response_format: { type: 'json_object' } };
    case 'text':
    case undefined:
      return {};
  }
}

function choiceOf({ tool_choice: choice }: CreateResponseBody): ChatCompletionBody['tool_choice'] {
  if (typeof choice !== 'object' || choice === null) return choice;
  return { type: 'function', function: { name: choice.name } };
}

/** Instructions first, wherever they stand: they are the same for all messages. */
function withInstructions(
  messages: readonly FieldMessage[],
  instructions: string | null | undefined,
): FieldMessage[] {
  const isInstruction = ({ message: { role } }: FieldMessage) =>
    role === 'system' || role === 'developer';
  const own: FieldMessage[] =
    typeof instructions === 'string' && instructions !== ''
      ? [{ message: { role: 'system', content: instructions }, field: 'instructions' }]
      : [];
  const said = messages.filter((each) => !isInstruction(each));
  return [...own, ...messages.filter(isInstruction), ...joinLast(said)];
}

const described = z.object({ metadata: z.looseObject({ client_context: clientContextText }) });

/** What the model shall know of the moment, as in chat completions. Throws BAD_FIELD. */
const contextOf = ({ metadata }: CreateResponseBody): Pick<ChatCompletionBody, 'metadata'> =>
  metadata?.['client_context'] === undefined ? {} : parseRequest(described, { metadata });

const fieldsOf =
  (messages: readonly FieldMessage[]) =>
  (field: string): string => {
    const [whole = '', index, rest = ''] = /^messages\[(\d+)\](.*)$/.exec(field) ?? [];
    if (whole === '') return FIELD_BY_CHAT_FIELD[field] ?? field;
    const inner = rest === '.tool_call_id' ? '.call_id' : rest;
    return `${messages[Number(index)]?.field ?? 'input'}${inner}`;
  };

/**
 * The request as a chat completion. `metadata.client_context` is what the model shall know of the moment, as there.
 * Throws BAD_FIELD.
 */
export function toChatBody(body: CreateResponseBody, isStored: boolean): Translated {
  const messages = withInstructions(toMessages(inputItems(body), isStored), body.instructions);
  const { temperature, top_p, max_output_tokens: maxTokens, tools, reasoning } = body;
  return {
    body: {
      model: 'recap',
      messages: messages.map(({ message }) => message),
      temperature,
      top_p,
      max_completion_tokens: maxTokens,
      reasoning_effort: reasoning?.effort,
      tools: tools?.map(toolOf),
      tool_choice: choiceOf(body),
      ...formatOf(body),
      ...contextOf(body),
    },
    fieldOf: fieldsOf(messages),
  };
}

/** Runs the translation; an error of it names the fields of this request. */
export const withResponsesFields = <Result>(
  { fieldOf }: Translated,
  run: () => Promise<Result>,
): Promise<Result> =>
  withClientFields(({ metadata: { field }, publicMessage }) => {
    if (field === undefined) return undefined;
    const own = fieldOf(field);
    return { field: own, publicMessage: publicMessage.replaceAll(`\`${field}\``, `\`${own}\``) };
  }, run);
