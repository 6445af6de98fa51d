import { z } from 'zod';
import { turnStateSchema } from '#shared/conversation/documents/turn.ts';
import { routingSchema } from '#shared/routing/routing.ts';
import { contextObjectResponse } from './context-object.ts';
import { recalledResponse } from './recalled.ts';
import { shrinkageResponse } from './context.ts';
import { time, tokens, wellFormedText, messageIdSchema } from '../fields.ts';
import { feedbackResponse } from './ratings.ts';
import { onBusySchema } from '#shared/conversation/documents/head.ts';
import { RECALL_TOKENS_MAX } from '#shared/recall/segment.ts';
import { FILE_URL_MAX_CHARACTERS, PARTS_MAX } from '../limits.ts';
import { clientContextSchema } from './client-context.ts';
import { uploadIdSchema } from './uploads.ts';

const textPart = z.strictObject({ type: z.literal('text'), text: wellFormedText.min(1) });

const mediaType = z
  .string()
  .max(128)
  .regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be a media type such as image/png');

/** Only https: a `gs://` address would be read with the rights of the service, not of the caller. */
const fileUrl = z
  .url({ protocol: /^https$/, error: 'must be an https address' })
  // The parser of addresses puts up with what nobody else does, and the text stays as it came.
  .refine(
    (url) => url.isWellFormed() && !/[\s\p{Cc}]/u.test(url),
    'must be an https address without spaces and control characters',
  )
  .max(FILE_URL_MAX_CHARACTERS);

const filePart = z
  .strictObject({
    type: z.literal('file'),
    mediaType: mediaType.optional().describe('With `data` or `url`; an upload has its own.'),
    data: z.base64().min(1).optional().describe('Base64 of the file.'),
    url: fileUrl.optional(),
    uploadId: uploadIdSchema.optional(),
  })
  .refine(
    ({ data, url, uploadId }) =>
      [data, url, uploadId].filter((given) => given !== undefined).length === 1,
    'needs one of data, url and uploadId',
  )
  .refine(
    (part) => (part.uploadId === undefined) === (part.mediaType !== undefined),
    'needs a mediaType with data or url, and none with uploadId',
  )
  // The same for who reads the OpenAPI document.
  .meta({
    oneOf: [
      { required: ['mediaType', 'data'] },
      { required: ['mediaType', 'url'] },
      { required: ['uploadId'], not: { required: ['mediaType'] } },
    ],
  });

export const inputPartSchema = z.discriminatedUnion('type', [textPart, filePart]);
export type InputPart = z.infer<typeof inputPartSchema>;

const messageSchema = z.strictObject({
  id: messageIdSchema,
  parts: z.array(inputPartSchema).min(1).max(PARTS_MAX),
  retention: z
    .enum(['keep', 'normal', 'drop'])
    .optional()
    .describe('keep: stays word for word; drop: is folded first.'),
});

/** The deployment may have less. */
export const recallTokensField = z.number().int().min(0).max(RECALL_TOKENS_MAX);

/** How a turn is to be answered; the same for every way to start one. */
const answerFields = {
  locale: z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/, 'must be a language tag such as ko-KR')
    .optional()
    .describe('Language of the sentences for people, such as those on compactions.'),
  onBusy: onBusySchema
    .optional()
    .describe('While another message is being answered: refuse, wait for it, or cancel it.'),
  recallTokens: recallTokensField
    .optional()
    .describe('What of folded turns may be brought back for this message, tokens; 0: nothing.'),
  clientContext: clientContextSchema.optional(),
};

export const sendMessageBody = z.strictObject({ message: messageSchema, ...answerFields });

export const editMessageBody = sendMessageBody;

export const regenerateBody = z.strictObject({
  id: messageIdSchema
    .optional()
    .describe('Id of the new turn’s message; the same id again is the same regeneration.'),
  ...answerFields,
});

const outputPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('file'),
    mediaType: z.string().optional(),
    data: z.string().optional(),
    url: z.string().optional(),
    uploadId: z.string().optional().describe('`GET /v1/uploads/{uploadId}` has its address.'),
    name: z.string().optional().describe('Of an upload.'),
  }),
  z.object({
    type: z.literal('functionCall'),
    name: z.string(),
    args: z.record(z.string(), z.unknown()),
  }),
  z.object({
    type: z.literal('functionResponse'),
    name: z.string(),
    response: z.record(z.string(), z.unknown()),
  }),
]);

export const finishReasonResponse = z.enum([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'other',
]);

export const loopResponse = z
  .enum(['text', 'calls'])
  .describe(
    'The answer was ended because its text, or its calls of tools, said the same again and again.',
  );

const replaces = z
  .number()
  .int()
  .optional()
  .describe('First of the turns that this one stands in for, after an edit or a regeneration.');

const unreadable = z
  .string()
  .optional()
  .describe(
    'Which field of the stored turn cannot be read any more: what it said is not shown and in no context. It stays stored.',
  );

export const messageResponse = z.object({
  id: z.string().describe('The client’s id of a user message, m_{seq} of an answer.'),
  turnId: z.string(),
  seq: z.number().int(),
  role: z.enum(['user', 'model']),
  parts: z.array(outputPart),
  state: turnStateSchema.describe('State of the message’s turn.'),
  createTime: time,
  finishReason: finishReasonResponse.optional(),
  loop: loopResponse.optional(),
  inContext: z.boolean(),
  replaces,
  recalled: recalledResponse.optional(),
  deleted: z.literal(true).optional().describe('Its content was erased; its place stays.'),
  unreadable,
  feedback: feedbackResponse.optional().describe('What the user said of this answer.'),
});
export type MessageView = z.infer<typeof messageResponse>;

export const messageListResponse = z.object({
  messages: z.array(messageResponse),
  nextPageToken: z.string().optional(),
});

export const usageResponse = z.object({
  promptTokens: tokens,
  cachedTokens: tokens,
  outputTokens: tokens,
  costMicros: z
    .number()
    .optional()
    .describe('Millionths of a US dollar; absent where no model reported what it took.'),
});

export const routingResponse = routingSchema.describe(
  'Where the model of the conversation is `auto`: which of the two answers, who chose it, and its id.',
);

export const turnResponse = z.object({
  id: z.string(),
  seq: z.number().int(),
  state: turnStateSchema,
  attempt: z.number().int(),
  messageId: z.string(),
  answerId: z.string(),
  createTime: time,
  finishTime: time.optional(),
  finishReason: finishReasonResponse.optional(),
  loop: loopResponse.optional(),
  inContext: z.boolean(),
  unreadable,
  replaces,
  usage: usageResponse.optional(),
  model: z
    .string()
    .optional()
    .describe(
      'Id of the model that answers, from the first call to the last, whatever the conversation is changed to meanwhile; absent while none is chosen.',
    ),
  routing: routingResponse.optional(),
  recalled: recalledResponse.optional(),
  cancelRequested: z
    .boolean()
    .optional()
    .describe('Somebody asked to stop the answer; it may still run for a moment.'),
  openCalls: z
    .array(
      z.object({
        callId: z.string(),
        name: z.string(),
        args: z.record(z.string(), z.unknown()),
        wants: z
          .enum(['output', 'approved'])
          .describe('output: the app runs it; approved: the server does, if the user allows it.'),
      }),
    )
    .optional()
    .describe('Of a turn that waits (`awaiting_tool`): what for.'),
  error: z
    .object({
      status: z.string(),
      reason: z.string(),
      message: z.string(),
      retryable: z.boolean(),
    })
    .optional(),
});
export type TurnView = z.infer<typeof turnResponse>;

/** Server-sent events; each `data` is a chunk of the AI SDK's UI message stream v1. */
export const streamResponse = z.string();

export const sendMessageResponse = z.object({
  turn: turnResponse,
  userMessage: messageResponse,
  message: messageResponse,
  context: contextObjectResponse,
  usage: usageResponse.nullable(),
  replayed: z.boolean(),
  shrunken: shrinkageResponse.optional(),
});
