import { nameCalls } from '#shared/conversation/context/tool-calls.ts';
import { readableParts, type Content, type Part } from '#shared/models/content.ts';
import { AppError } from '#shared/lib/errors.ts';
import { unreadUpload } from '#shared/uploads/upload-parts.ts';
import { wellFormedText } from '../fields.ts';
import { FILE_URL_MAX_CHARACTERS } from '#shared/lib/limits.ts';
import { uploadIdSchema } from './uploads.ts';
import { z } from 'zod';

const textPart = z.strictObject({ type: z.literal('text'), text: wellFormedText.min(1) });

export const mediaTypeSchema = z
  .string()
  .max(128)
  .regex(/^[\w.+-]+\/[\w.+-]+$/, 'must be a media type such as image/png');

const HTTPS_ADDRESS = 'must be an https address';

/** Only https: a `gs://` address would be read with the rights of the service, not of the caller. */
export const fileUrl = z
  .url({
    protocol: /^https$/,
    error: `${HTTPS_ADDRESS}; of a data: URL the base64 goes into \`data\``,
  })
  // The parser of addresses puts up with what nobody else does, and the text stays as it came.
  .refine(
    (url) => url.isWellFormed() && !/[\s\p{Cc}]/u.test(url),
    `${HTTPS_ADDRESS} without spaces and control characters`,
  )
  .max(FILE_URL_MAX_CHARACTERS);

const filePart = z
  .strictObject({
    type: z.literal('file'),
    mediaType: mediaTypeSchema.optional().describe('With `data` or `url`; an upload has its own.'),
    data: z
      .base64('must be base64 alone, without `data:…;base64,`; an https address goes into `url`')
      .min(1)
      .optional()
      .describe('Base64 of the file.'),
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

const callIdField = z
  .string()
  .optional()
  .describe('`toolCallId` of the stream; a response has that of its call.');

export const outputPartResponse = z.discriminatedUnion('type', [
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
    callId: callIdField,
    name: z.string(),
    args: z.record(z.string(), z.unknown()),
    providerExecuted: z.literal(true).optional().describe('The server runs it.'),
  }),
  z.object({
    type: z.literal('functionResponse'),
    callId: callIdField,
    name: z.string(),
    response: z.record(z.string(), z.unknown()),
  }),
]);

type OutputPart = z.infer<typeof outputPartResponse>;

interface MessageLimits {
  maxPartBytes: number;
  maxMessageBytes: number;
}

const encoder = new TextEncoder();

const sizeBytes = (text: string) => encoder.encode(text).length;

const tooLong = (what: { subject: string; remedy: string; bytes: number; limitBytes: number }) =>
  new AppError({
    reason: 'TEXT_TOO_LONG',
    publicMessage: `${what.subject} has ${what.bytes} bytes; the limit is ${what.limitBytes}. ${what.remedy}`,
    metadata: {
      field: what.subject.replaceAll('`', ''),
      sizeBytes: String(what.bytes),
      limitBytes: String(what.limitBytes),
    },
  });

/** Bytes that a part counts: the UTF-8 of its text, or the base64 of its data. */
const partBytes = (part: InputPart) =>
  part.type === 'text' ? sizeBytes(part.text) : (part.data?.length ?? part.url?.length ?? 0);

/** Throws AppError TEXT_TOO_LONG (400) that names the part by its `path`, its size and the limit. */
export function refuseTooLong(
  parts: readonly InputPart[],
  limits: MessageLimits,
  path = 'message.parts',
): void {
  let total = 0;
  for (const [index, part] of parts.entries()) {
    const bytes = partBytes(part);
    total += bytes;
    if (part.type === 'text' && bytes > limits.maxPartBytes)
      throw tooLong({
        subject: `\`${path}[${index}].text\``,
        remedy: 'Shorten it or split it into parts.',
        bytes,
        limitBytes: limits.maxPartBytes,
      });
  }
  if (total > limits.maxMessageBytes)
    throw tooLong({
      subject: `\`${path}\``,
      remedy: parts.some((part) => part.type === 'file')
        ? 'Send files as uploads: POST /v1/uploads.'
        : 'Send less in one message.',
      bytes: total,
      limitBytes: limits.maxMessageBytes,
    });
}

/** A part of the wire as the model and the store have it. */
export function toPart(part: InputPart): Part {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'file': {
      const { mediaType: mimeType = '', data, url = '', uploadId } = part;
      if (uploadId !== undefined) return unreadUpload(uploadId);
      return data === undefined
        ? { fileData: { mimeType, fileUri: url } }
        : { inlineData: { mimeType, data } };
    }
  }
}

function fromPart(part: Part, callId: string | undefined): OutputPart[] {
  const named = callId === undefined ? {} : { callId };
  if (part.upload) {
    const { id: uploadId, mimeType: mediaType, name } = part.upload;
    return [{ type: 'file', mediaType, uploadId, ...(name !== undefined && { name }) }];
  }
  if (part.text !== undefined) return part.text === '' ? [] : [{ type: 'text', text: part.text }];
  if (part.inlineData)
    return [{ type: 'file', mediaType: part.inlineData.mimeType, data: part.inlineData.data }];
  if (part.fileData) {
    const { mimeType, fileUri } = part.fileData;
    return [{ type: 'file', ...(mimeType !== undefined && { mediaType: mimeType }), url: fileUri }];
  }
  if (part.functionCall)
    return [
      {
        type: 'functionCall',
        ...named,
        name: part.functionCall.name,
        args: part.functionCall.args ?? {},
      },
    ];
  if (part.functionResponse?.response)
    return [
      {
        type: 'functionResponse',
        ...named,
        name: part.functionResponse.name,
        response: part.functionResponse.response,
      },
    ];
  return [];
}

/** What a person may see of a turn's contents: no thoughts, no signatures, nothing empty. */
export function toOutputParts(seq: number, contents: readonly Content[]): OutputPart[] {
  const callIds = nameCalls(seq, contents);
  return contents.flatMap((content) =>
    readableParts(content).flatMap((part) => fromPart(part, callIds.get(part))),
  );
}
