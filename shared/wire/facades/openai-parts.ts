import { z } from 'zod';
import { wellFormedText } from '../fields.ts';
import { PARTS_MAX } from '../limits.ts';
import { fileUrl } from '../resources/message-parts.ts';
import { uploadIdSchema } from '../resources/uploads.ts';

/* What a message of a chat completion may hold. */

export const textPart = z.looseObject({ type: z.literal('text'), text: wellFormedText });

/** What stands before the base64 of a file. */
const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+;base64,/;
const base64Schema = z.base64().min(1);

const isBase64Url = (url: string) => base64Schema.safeParse(url.replace(DATA_URL, '')).success;

export const imagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({
    url: z
      .string()
      .regex(DATA_URL, { error: 'must be a data: URL in base64', abort: true })
      .refine(isBase64Url, 'must be a data: URL in base64'),
  }),
});

export const filePart = z.looseObject({
  type: z.literal('file'),
  file: z
    .looseObject({
      file_data: z
        .string()
        .regex(DATA_URL, { error: 'must be a data: URL in base64', abort: true })
        .refine(isBase64Url, 'must be a data: URL in base64')
        .optional(),
      file_id: uploadIdSchema.optional(),
      file_url: fileUrl.optional(),
      media_type: z.string().optional(),
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

export const contentSchema = <Part extends z.ZodType>(part: Part) =>
  z.union([wellFormedText, z.array(part).max(PARTS_MAX)], {
    error: 'must be a text or a list of parts',
  });
