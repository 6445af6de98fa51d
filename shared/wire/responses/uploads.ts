import { z } from 'zod';
import { time } from './fields.ts';

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
