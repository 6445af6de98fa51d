import { optionValues } from '#shared/models/answer-options.ts';
import { fileAddress } from '../openai.ts';
import {
  boundedRecord,
  conversationIdSchema,
  flag,
  wellFormedText,
  wholeNumber,
} from '#shared/wire/fields.ts';
import { DIALOGUE_MAX, METADATA_ENTRIES_MAX, PARTS_MAX, TOOLS_MAX } from '#shared/lib/limits.ts';
import { responseSchemaSchema } from '#shared/wire/response-schema.ts';
import { z } from 'zod';

/*
 * What clients of OpenAI’s Responses API send:
 * https://platform.openai.com/docs/api-reference/responses and https://www.openresponses.org. Read as tolerantly as
 * chat completions are: what asks for something that is not done here is refused by name.
 */

const idText = z.string().min(1).max(256);

const inputText = z.looseObject({
  type: z.enum(['input_text', 'output_text', 'text']),
  text: wellFormedText,
});

const inputImage = z.looseObject({
  type: z.literal('input_image'),
  image_url: fileAddress.nullish().describe('A data: URL, or an https address of a stored image.'),
  file_id: idText.nullish().describe('An upload of the user.'),
});

const inputFile = z.looseObject({
  type: z.literal('input_file'),
  file_data: fileAddress.nullish().describe('A data: URL.'),
  file_url: fileAddress.nullish(),
  file_id: idText.nullish().describe('An upload of the user.'),
  filename: z.string().nullish(),
});

const refusal = z.looseObject({ type: z.literal('refusal'), refusal: wellFormedText });

const content = z.union(
  [
    wellFormedText,
    z
      .array(z.discriminatedUnion('type', [inputText, inputImage, inputFile, refusal]))
      .max(PARTS_MAX),
  ],
  { error: 'must be a text or a list of parts' },
);

const message = z.looseObject({
  type: z.literal('message').default('message'),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content,
});

const functionCall = z.looseObject({
  type: z.literal('function_call'),
  call_id: idText,
  name: z.string().min(1).max(64),
  arguments: z.string(),
});

const functionCallOutput = z.looseObject({
  type: z.literal('function_call_output'),
  call_id: idText,
  output: content,
});

/** The server keeps the model's thoughts itself. */
const reasoning = z.looseObject({ type: z.literal('reasoning') });

const itemReference = z.looseObject({
  type: z.literal('item_reference').default('item_reference'),
  id: idText,
});

const inputItem = z.union([functionCall, functionCallOutput, reasoning, message, itemReference], {
  error:
    'must be a message, a function_call, a function_call_output, a reasoning or an item_reference',
});
export type ResponsesInputItem = z.infer<typeof inputItem>;

/** Either a function or a tool that OpenAI runs, which the façade refuses by name. */
const tool = z.looseObject({
  type: z.string(),
  name: z.string().optional(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
});

const toolChoice = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    z.looseObject({ type: z.literal('function'), name: optionValues.functionName }),
  ],
  { error: 'must be `auto`, `none`, `required` or one function of `tools`' },
);

const textFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    name: z.string().optional(),
    schema: responseSchemaSchema.optional(),
  }),
]);

const conversation = z.union(
  [conversationIdSchema, z.looseObject({ id: conversationIdSchema }).transform(({ id }) => id)],
  { error: 'must be a UUID, version 4 or 7, or `{id}`' },
);

const input = z.union([wellFormedText, z.array(inputItem).max(DIALOGUE_MAX)], {
  error: 'must be a text or a list of items',
});

const effort = z.enum(['none', 'minimal', 'low', 'medium', 'high']);

export const createResponseBody = z.looseObject({
  model: z
    .string()
    .max(256)
    .nullish()
    .describe('Any name; the model of the deployment or the conversation answers.'),
  input: input.describe(
    'A text, or items. Those at the end count: a message, or what tools gave; the server has the history. Items before a message need a `conversation`.',
  ),
  instructions: wellFormedText
    .nullish()
    .describe('Where `CLIENT_WRITABLE` lists `systemInstruction`; a conversation keeps them.'),
  conversation: conversation
    .nullish()
    .describe('The conversation, or `{id}`; a new UUID begins one.'),
  previous_response_id: z
    .string()
    .nullish()
    .describe('Goes on in its conversation; behind an earlier answer in a fork of it.'),
  store: z
    .boolean()
    .nullish()
    .describe('Every answer is stored in its conversation; `false` is refused.'),
  stream: z.boolean().nullish(),
  background: z
    .boolean()
    .nullish()
    .describe('With `stream` only: an answer goes on without its reader anyway.'),
  tools: z.array(tool).max(TOOLS_MAX).nullish().describe('Functions of the app.'),
  tool_choice: toolChoice.nullish(),
  text: z
    .looseObject({ format: textFormat.nullish(), verbosity: z.string().nullish() })
    .nullish()
    .describe('`format`: what the answer has to fit.'),
  reasoning: z
    .looseObject({
      effort: effort.nullish(),
      summary: z.string().nullish(),
      generate_summary: z.string().nullish(),
    })
    .nullish()
    .describe('`effort`: how much the model thinks; `none` is the least that it can.'),
  temperature: optionValues.temperature.nullish(),
  top_p: optionValues.topP.nullish(),
  max_output_tokens: optionValues.maxOutputTokens
    .nullish()
    .describe('At most those that the model can give.'),
  metadata: boundedRecord(z.string(), z.string(), METADATA_ENTRIES_MAX)
    .nullish()
    .describe('Comes back with the answer.'),
  context_management: z
    .array(z.unknown())
    .nullish()
    .describe('Refused: the server compacts by itself.'),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  include: z.array(z.string()).nullish(),
});
export type CreateResponseBody = z.infer<typeof createResponseBody>;

export const responseParams = z.strictObject({
  responseId: z.string().min(1).max(128).describe('As `id` of a response has it.'),
});

export const retrieveResponseQuery = z.looseObject({
  stream: flag.describe('`true`: the events of the response, running or finished.'),
  starting_after: wholeNumber(15, 'must be a sequence_number')
    .optional()
    .describe('With `stream`: only the events after this `sequence_number`.'),
});

export const inputItemsQuery = z.looseObject({
  order: z.enum(['asc', 'desc']).optional(),
  after: z.string().optional(),
});
