import { z } from 'zod';
import { wellFormedText } from '../fields.ts';
import { PARTS_MAX } from '../limits.ts';
import { readDataUrl } from '../data-url.ts';
import { fileUrl, mediaTypeSchema } from '../resources/message-parts.ts';
import { uploadIdSchema } from '../resources/uploads.ts';

/* What a message of a chat completion may hold. */

export const textPart = z.looseObject({ type: z.literal('text'), text: wellFormedText });

/** Instead of a text, what an assistant said when it declined. */
export const refusalPart = z.looseObject({ type: z.literal('refusal'), refusal: wellFormedText });

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

export const imagePart = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({ url: fileAddress }),
});

export const filePart = z.looseObject({
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

export const contentSchema = <Part extends z.ZodType>(part: Part) =>
  z.union([wellFormedText, z.array(part).max(PARTS_MAX)], {
    error: 'must be a text or a list of parts',
  });
