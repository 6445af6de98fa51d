import { optionValues } from '#shared/models/answer-options.ts';
import { readDataUrl } from '../data-url.ts';
import { wellFormedText, tokens, conversationIdSchema } from '../fields.ts';
import { PARTS_MAX, DIALOGUE_MAX, TOOLS_MAX } from '#shared/lib/limits.ts';
import { clientContextSchema } from '../resources/client-context.ts';
import { fileUrl, mediaTypeSchema } from '../resources/message-parts.ts';
import { uploadIdSchema } from '../resources/uploads.ts';
import { responseSchemaSchema } from '../response-schema.ts';
import { annotationsResponse } from '../sources.ts';
import { z } from 'zod';

/* What a message of a chat completion may hold. */

const textPart = z.looseObject({ type: z.literal('text'), text: wellFormedText });

/** Instead of a text, what an assistant said when it declined. */
const refusalPart = z.looseObject({ type: z.literal('refusal'), refusal: wellFormedText });

const base64Schema = z.base64().min(1);

/** A file in its address. */
const dataUrl = z.string().refine((url) => {
  const file = readDataUrl(url);
  return (
    file !== undefined &&
    mediaTypeSchema.safeParse(file.mediaType).success &&
    base64Schema.safeParse(file.data).success
  );
}, 'must be a data: URL in base64');

/** A file in its address, or behind one. */
export const fileAddress = z
  .string()
  .refine((url) => dataUrl.safeParse(url).success || fileUrl.safeParse(url).success, {
    error: 'must be a data: URL in base64, or an https address',
  });

const imagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({ url: fileAddress }),
});

const filePart = z.looseObject({
  type: z.literal('file'),
  file: z
    .looseObject({
      file_data: dataUrl.optional(),
      file_id: uploadIdSchema.optional(),
      file_url: fileUrl.optional(),
      media_type: mediaTypeSchema.optional(),
    })
    .refine(
      ({ file_data: data, file_id: id, file_url: url }) =>
        [data, id, url].filter((given) => given !== undefined).length === 1,
      'needs one of file_data, file_id and file_url',
    )
    .refine(
      ({ file_url: url, media_type: type }) => url === undefined || type !== undefined,
      'needs a media_type with file_url',
    ),
});

const contentSchema = <Part extends z.ZodType>(part: Part) =>
  z.union([wellFormedText, z.array(part).max(PARTS_MAX)], {
    error: 'must be a text or a list of parts',
  });

/*
 * What clients of OpenAI send. Read tolerantly: they send more fields than anybody knows. What asks for something
 * that is not done here is refused by name; what is harmless is named in the answer.
 */

const userMessage = z.looseObject({
  role: z.literal('user'),
  content: contentSchema(z.discriminatedUnion('type', [textPart, imagePart, filePart])),
});

const textMessage = <Role extends string>(role: Role) =>
  z.looseObject({ role: z.literal(role), content: contentSchema(textPart) });

const assistantMessage = z.looseObject({
  role: z.literal('assistant'),
  content: contentSchema(z.discriminatedUnion('type', [textPart, refusalPart])).nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string().min(1).max(256),
        type: z.literal('function'),
        function: z.looseObject({ name: z.string().min(1).max(64), arguments: z.string() }),
      }),
    )
    .max(TOOLS_MAX)
    .nullish(),
});

/** What a program has got from a function that the model called. */
const toolMessage = z.looseObject({
  role: z.literal('tool'),
  tool_call_id: z.string().min(1).max(256),
  content: contentSchema(textPart),
});

const message = z.discriminatedUnion('role', [
  userMessage,
  assistantMessage,
  toolMessage,
  textMessage('system'),
  textMessage('developer'),
]);
export type OpenAiMessage = z.infer<typeof message>;

/** The value of JSON; what is none is a text. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The SDKs' types take texts alone as metadata. */
export const clientContextText = z.string().transform(jsonOrText).pipe(clientContextSchema);

/** A model id; which model answers is not the client's choice. */
const modelSchema = z.string().min(1).max(256);

const tool = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({
    name: z.string(),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
  }),
});

const notHere = (what: string) => ({
  error: `is not taken here: ${what}`,
});

const nothing = (what: string) =>
  z.union([z.null(), z.undefined(), z.array(z.unknown()).max(0)], notHere(what)).optional();

const maxTokens = optionValues.maxOutputTokens.nullish();

const responseFormat = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({
    type: z.literal('json_schema'),
    json_schema: z.looseObject({ schema: responseSchemaSchema }),
  }),
]);

const toolChoice = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    z.looseObject({
      type: z.literal('function'),
      function: z.looseObject({ name: optionValues.functionName }),
    }),
  ],
  { error: 'must be `auto`, `none`, `required` or one function of `tools`' },
);

const stop = z.union([optionValues.stopSequence, z.array(optionValues.stopSequence).max(4)], {
  error: 'must be a text of at most 256 characters, or at most four of them',
});

export const chatCompletionBody = z.looseObject({
  model: modelSchema.describe('Any name; the model of the deployment or the conversation answers.'),
  messages: z
    .array(message)
    .min(1)
    .max(DIALOGUE_MAX)
    .describe(
      'The last one is answered, or those of the role `tool` at the end; the server’s own transcript is the history. Those before may be all or the newest; where they end with an earlier answer, the message is an edit there.',
    ),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  metadata: z
    .looseObject({
      conversation_id: conversationIdSchema.optional(),
      client_context: clientContextText.optional(),
      history: z.literal('whole', 'must be `whole`').optional(),
    })
    .refine((metadata) => !('conversationId' in metadata), {
      path: ['conversationId'],
      error: 'is named `conversation_id` here',
    })
    .nullish()
    .describe(
      '`conversation_id`: the conversation, unless the header `X-Conversation-Id` names it; the first message creates it. `client_context`: what the model shall know of the moment, as JSON in a text. `history`: `whole` says that `messages` is all there is of the dialogue, so that a first message alone edits the first one.',
    ),
  temperature: optionValues.temperature.nullish(),
  top_p: optionValues.topP.nullish(),
  seed: optionValues.seed.nullish(),
  stop: stop.nullish(),
  reasoning_effort: z
    .enum(['none', 'minimal', 'low', 'medium', 'high'])
    .nullish()
    .describe('How much the model thinks; `none` is the least that it can.'),
  max_completion_tokens: maxTokens.describe(
    'Tokens of the answer, at most those that its model can give.',
  ),
  max_tokens: maxTokens.describe('The same under its older name.'),
  response_format: responseFormat
    .nullish()
    .describe('The answer fits the schema, or is an error that says what does not.'),
  n: z.literal(1).nullish(),
  tools: z
    .array(tool)
    .max(TOOLS_MAX)
    .nullish()
    .describe('Where `CLIENT_WRITABLE` lists `tools`: those of the conversation from now on.'),
  tool_choice: toolChoice.nullish().describe('For the first call of the model.'),
  functions: nothing('give `tools`'),
});
export type ChatCompletionBody = z.infer<typeof chatCompletionBody>;

/* What clients of OpenAI read: https://platform.openai.com/docs/api-reference/chat */

const finishReason = z.enum(['stop', 'length', 'content_filter', 'tool_calls']);
export type OpenAiFinishReason = z.infer<typeof finishReason>;

const usage = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens.describe('Thinking included.'),
  total_tokens: tokens,
  prompt_tokens_details: z.object({ cached_tokens: tokens }),
  completion_tokens_details: z.object({ reasoning_tokens: tokens }),
});
export type OpenAiUsage = z.infer<typeof usage>;

const recap = z
  .object({
    conversationId: z.string(),
    turnId: z.string(),
    generation: z.number().int(),
    replayed: z
      .literal(true)
      .optional()
      .describe('The same request was answered before, and this is that answer.'),
  })
  .describe('Where the answer stands.');
export type RecapField = z.infer<typeof recap>;

const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string().describe('JSON.') }),
});
export type OpenAiToolCall = z.infer<typeof toolCall>;

const identity = { id: z.string(), created: z.number().int(), model: z.string() };

export const ignored = {
  ignored: z
    .array(z.string())
    .optional()
    .describe('Fields of the request that had no effect; absent where there are none.'),
};

export const chatCompletionResponse = z.object({
  ...ignored,
  ...identity,
  object: z.literal('chat.completion'),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({
        role: z.literal('assistant'),
        content: z.string(),
        refusal: z.null(),
        annotations: annotationsResponse,
        tool_calls: z
          .array(toolCall)
          .optional()
          .describe('What the turn waits for; answer by messages of the role `tool`.'),
      }),
      logprobs: z.null(),
      finish_reason: finishReason,
    }),
  ),
  usage: usage.optional(),
  recap: recap.optional(),
});
export type ChatCompletion = z.infer<typeof chatCompletionResponse>;

export const chatCompletionChunk = z.object({
  ...ignored,
  ...identity,
  object: z.literal('chat.completion.chunk'),
  choices: z.array(
    z.object({
      index: z.literal(0),
      delta: z.object({
        role: z.literal('assistant').optional(),
        content: z.string().optional(),
        annotations: annotationsResponse,
        tool_calls: z.array(toolCall.extend({ index: z.number().int() })).optional(),
      }),
      logprobs: z.null(),
      finish_reason: finishReason.nullable(),
    }),
  ),
  usage: usage.nullable().optional(),
  recap: recap.optional(),
});
export type ChatCompletionChunk = z.infer<typeof chatCompletionChunk>;

export const modelResponse = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.number().int(),
  owned_by: z.string(),
});

export const modelListResponse = z.object({
  object: z.literal('list'),
  data: z.array(modelResponse),
});

/** The error of an answer; `status` and `details` as in every other error of the API. */
export interface OpenAiError {
  message: string;
  type: string;
  /** The field that is meant; '' for none. */
  param: string;
  code: string;
  status: string;
  details: readonly object[];
}
