import type { SignedRequest } from '#shared/ports/ports.ts';
import { FILE_TYPE_PATTERN, FILE_TYPES } from '#shared/uploads/file-types.ts';
import { FILE_NAME_MAX_CHARACTERS, FILES_MAX_BYTES } from '#shared/uploads/limits.ts';
import type { Upload } from '#shared/uploads/upload.ts';
import { shownLine, time } from '../fields.ts';
import { z } from 'zod';

export const uploadIdSchema = z
  .string()
  .regex(
    /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$/,
    'must be a UUID from POST /v1/uploads',
  )
  .toLowerCase()
  .describe('Id of an upload, as `POST /v1/uploads` gave it.');

export const uploadParams = z.strictObject({ uploadId: uploadIdSchema });

export const createUploadBody = z.strictObject({
  mimeType: z
    .string()
    .max(128)
    .regex(FILE_TYPE_PATTERN, `must be one of ${FILE_TYPES.join(', ')}, without parameters`)
    .describe(`One of ${FILE_TYPES.join(', ')}.`),
  sizeBytes: z
    .number()
    .int()
    .min(1)
    .max(FILES_MAX_BYTES)
    .describe('The exact size of the file; another one is not taken.'),
  name: shownLine(FILE_NAME_MAX_CHARACTERS)
    .optional()
    .describe('What the file is called; the model is told.'),
});

const uploadFields = {
  uploadId: z.string(),
  mimeType: z.string(),
  sizeBytes: z.number().int(),
  name: z.string().optional(),
  createTime: time,
};

/** Where the file is to be sent, and how. */
export const createUploadResponse = z.object({
  ...uploadFields,
  url: z.string().describe('Where the bytes go; whoever has it may send the file.'),
  method: z.literal('PUT'),
  headers: z.record(z.string(), z.string()).describe('To be sent with the bytes exactly so.'),
  expireTime: time.describe('Until when the address can be used.'),
});

export const uploadResponse = z.object({
  ...uploadFields,
  url: z.string().describe('Where the file can be read for some minutes, without a sign-in.'),
  expireTime: time.describe('Until when the address can be used.'),
});

/** With an address of its bytes; which turns name it stays inside. */
export const uploadView = (upload: Upload, { url, expireTime }: SignedRequest) => ({
  uploadId: upload.id,
  mimeType: upload.mimeType,
  sizeBytes: upload.sizeBytes,
  ...(upload.name !== undefined && { name: upload.name }),
  createTime: upload.createTime.toISOString(),
  url,
  expireTime: expireTime.toISOString(),
});
