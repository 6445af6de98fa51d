import { z } from 'zod';

/** What a part of a message says of the upload that it is, beside what the model is to see. */
export const uploadedFileSchema = z.object({
  id: z.string(),
  /** Its object in the bucket; built by the server, never by a client. */
  path: z.string(),
  mimeType: z.string(),
  sizeBytes: z.number(),
  name: z.string().optional(),
  /** Of a PDF, where they could be counted. */
  pages: z.number().optional(),
  /** Of a recording; an estimate where its header does not tell. */
  seconds: z.number().optional(),
});
export type UploadedFile = z.infer<typeof uploadedFileSchema>;
