import type { OpenAiUserMessage } from '#shared/wire/facades/openai.ts';
import type { ResponsesContent } from '#shared/wire/facades/responses/request.ts';
import { badInput } from './bad-input.ts';

type UserPart = Exclude<OpenAiUserMessage['content'], string>[number];
type Part = Exclude<ResponsesContent, string>[number];
type FilePart = Extract<Part, { type: 'input_image' | 'input_file' }>;

/** Media types by the ends of names: an address says no more. */
const TYPE_BY_ENDING: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
};

const endingOf = (name: string) => /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? '';

function mediaTypeOf(url: string, field: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  const type = TYPE_BY_ENDING[endingOf(path)];
  if (type !== undefined) return type;
  throw badInput(
    field,
    `\`${field}\` must end as a file of a known type does, such as .png or .pdf. Send a data: URL in base64 instead.`,
  );
}

const DATA_URL = /^data:[\w.+-]+\/[\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}$/;

/** A file, given as one of data, address and id. */
function fileOf(part: FilePart, field: string): UserPart {
  const given = part.type === 'input_image' ? part.image_url : (part.file_data ?? part.file_url);
  const { file_id: id } = part;
  if (typeof id === 'string' && id !== '') return { type: 'file', file: { file_id: id } };
  if (typeof given !== 'string')
    throw badInput(
      field,
      `\`${field}\` holds no file. Give a data: URL, an address or \`file_id\`.`,
    );
  if (DATA_URL.test(given)) return { type: 'file', file: { file_data: given } };
  if (!/^https:\/\//i.test(given))
    throw badInput(field, `\`${field}\` must be a data: URL in base64, or an https address.`);
  return { type: 'file', file: { file_url: given, media_type: mediaTypeOf(given, field) } };
}

function partOf(part: Part, field: string): UserPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part.text };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'input_image':
    case 'input_file':
      return fileOf(part, field);
  }
}

/** What a user's item says, in the words of chat completions. Throws BAD_FIELD, which names `field`. */
export const toUserParts = (content: ResponsesContent, field: string): UserPart[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : content.map((part, index) => partOf(part, `${field}[${index}]`));

/** The text of any other item. Throws BAD_FIELD for a file. */
export function toText(content: ResponsesContent, field: string): string {
  return toUserParts(content, field)
    .map((part) => {
      if (part.type === 'text') return part.text;
      throw badInput(
        field,
        `\`${field}\` holds a file. Files are for messages of the user; send text here.`,
      );
    })
    .join('');
}
