import { z } from 'zod';

/** What a part of a message says of the upload that it is, beside what the model is to see. */
const uploadedFileSchema = z.object({
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

/**
 * Part and Content as the Gemini API has them. The schemas are tolerant: fields that Recap does not
 * know are kept, because what a model sent (thought signatures above all) must go back unchanged.
 */
export const partSchema = z.looseObject({
  text: z.string().optional(),
  /** True for a thought summary; never shown or sent again without its signature. */
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  functionCall: z
    .looseObject({
      id: z.string().optional(),
      name: z.string(),
      args: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
  functionResponse: z
    .looseObject({
      id: z.string().optional(),
      name: z.string(),
      response: z.record(z.string(), z.unknown()).optional(),
    })
    .optional(),
  inlineData: z.looseObject({ mimeType: z.string(), data: z.string() }).optional(),
  fileData: z.looseObject({ mimeType: z.string().optional(), fileUri: z.string() }).optional(),
  /** Ours alone: the upload that the part is. It is taken off before a model sees the part (`resolvedContents`). */
  upload: uploadedFileSchema.optional(),
  /** Ours alone: what a model made of a very long tool output. Prompts show it in the place of the output. */
  condensed: z.string().optional(),
});
export type Part = z.infer<typeof partSchema>;

/** Whether a part is text and nothing else, as almost all are. */
export const isPlainText = (part: unknown): part is Part & { text: string } =>
  typeof part === 'object' &&
  part !== null &&
  'text' in part &&
  typeof part.text === 'string' &&
  Object.keys(part).length === 1;

export const contentSchema = z.looseObject({
  role: z.enum(['user', 'model']),
  parts: z.array(partSchema),
});
export type Content = z.infer<typeof contentSchema>;

/** Whether nothing of a part can be read: it carries a thought or a signature alone. */
const isUnread = (part: Part): boolean =>
  part.thought === true ||
  (!part.text && Object.keys(part).every((key) => key === 'text' || key === 'thoughtSignature'));

/** Text, perhaps signed, and no file whose text it is. */
const isText = ({ text, upload, functionCall, functionResponse, inlineData, fileData }: Part) =>
  text !== undefined &&
  (upload ?? functionCall ?? functionResponse ?? inlineData ?? fileData) === undefined;

/**
 * The parts of a content as they are read: without thoughts, and what a model says as one text however it came, for a
 * signature may stand on any piece of it, also within a word. A user's parts stay apart, as they were sent.
 */
export function readableParts({ role, parts }: Content): Part[] {
  const readable: Part[] = [];
  for (const part of parts) {
    if (isUnread(part)) continue;
    const last = readable.at(-1);
    if (role === 'model' && last && isText(last) && isText(part))
      readable.splice(-1, 1, { text: `${last.text}${part.text}` });
    else readable.push(part);
  }
  return readable;
}

/** The readable text of a content: its text parts without thoughts, joined without separator. */
export const contentText = ({ parts }: Content): string =>
  parts.map(({ text = '', thought }) => (thought === true ? '' : text)).join('');

const visible = /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a reader sees anything of what a model says: a character that is no blank, or a file. */
export const isSeen = (parts: readonly Part[]): boolean =>
  visible.test(contentText({ role: 'model', parts: [...parts] })) ||
  parts.some(({ inlineData, fileData }) => (inlineData ?? fileData) !== undefined);

export const hasFunctionCall = ({ parts }: Content): boolean =>
  parts.some(({ functionCall }) => functionCall !== undefined);

export const hasFunctionResponse = ({ parts }: Content): boolean =>
  parts.some(({ functionResponse }) => functionResponse !== undefined);

/** Whether a model has condensed an output in it. */
export const hasCondensed = ({ parts }: Content): boolean =>
  parts.some(({ condensed }) => condensed !== undefined);

/** What a turn says to its user: the text of all that the model said in it, one after the other. */
export const answerText = (contents: readonly Content[]): string =>
  contents.map((content) => (content.role === 'model' ? contentText(content) : '')).join('');

/** Values of calls and responses that are nested deeper are left unread; what the wire takes is far flatter. */
export const DEPTH_MAX = 64;

function collect(value: unknown, depth: number, strings: string[]): void {
  if (typeof value === 'string') strings.push(value);
  else if (typeof value === 'number') strings.push(String(value));
  else if (typeof value === 'object' && value !== null && depth < DEPTH_MAX)
    for (const [key, member] of Object.entries(value)) {
      strings.push(key);
      collect(member, depth + 1, strings);
    }
}

/** Every string, number and key in a value of JSON. */
export function stringsInValue(value: unknown): string[] {
  const strings: string[] = [];
  collect(value, 0, strings);
  return strings;
}

/** Every string, number and key in the text, calls and responses of contents; not the bytes of media. */
export function stringsIn(contents: readonly Content[]): string[] {
  const strings: string[] = [];
  for (const { text, functionCall, functionResponse, fileData } of contents.flatMap(readableParts))
    collect([text, functionCall, functionResponse, fileData], 0, strings);
  return strings;
}

/** Whether a content holds more than text: a picture, a document, a recording. */
export const hasMedia = ({ parts }: Content): boolean =>
  parts.some(({ inlineData, fileData }) => inlineData !== undefined || fileData !== undefined);
