import { z } from 'zod';
import { onBusySchema } from '#shared/conversation/documents/head.ts';
import { RECALL_TOKENS_MAX } from '#shared/recall/segment.ts';
import { FILE_URL_MAX_CHARACTERS, PARTS_MAX } from '../limits.ts';
import { clientContextSchema } from './client-context.ts';
import { wellFormedText, messageIdSchema } from './ids.ts';
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
