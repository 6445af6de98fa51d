import { z } from 'zod';

/* A message of the AI SDK in the words of our own requests. Whether it is a good one is checked after it. */

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const filePart = z.looseObject({
  type: z.literal('file'),
  mediaType: z.unknown(),
  url: z.string(),
});

/** `data:image/png;base64,…`, with parameters or without; what is not base64 stays a URL and is refused. */
const DATA_URL = /^data:[^,]*;base64,/i;

/** How a client of the AI SDK names an upload: its file parts have an address and no id. */
const UPLOAD_URL = 'upload:';

function fileOf({ mediaType, url }: z.infer<typeof filePart>) {
  if (url.startsWith(UPLOAD_URL)) return { type: 'file', uploadId: url.slice(UPLOAD_URL.length) };
  const start = DATA_URL.exec(url)?.[0];
  return start === undefined
    ? { type: 'file', mediaType, url }
    : { type: 'file', mediaType, data: url.slice(start.length) };
}

/**
 * The parts of a UI message that are said to the model: texts that are not empty, and files, a `data:` URL
 * as its data and `upload:{uploadId}` as that upload. Others (`data-*`, `step-start`, and whatever a later SDK has) are an app’s own.
 */
export function toInputParts(parts: unknown): unknown[] {
  const list: readonly unknown[] = Array.isArray(parts) ? parts : [];
  return list.flatMap((part): unknown[] => {
    const text = textPart.safeParse(part);
    if (text.success) return text.data.text === '' ? [] : [{ type: 'text', text: text.data.text }];
    const file = filePart.safeParse(part);
    return file.success ? [fileOf(file.data)] : [];
  });
}
