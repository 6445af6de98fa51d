import type { OpenAiUserMessage } from '#shared/wire/facades/openai.ts';
import type { ResponsesContent } from '#shared/wire/facades/responses/request.ts';
import { dataUrl } from '#shared/wire/facades/openai-parts.ts';
import { fileUrl } from '#shared/wire/resources/message-parts.ts';
import { badInput } from './bad-input.ts';

type UserPart = Exclude<OpenAiUserMessage['content'], string>[number];
type Part = Exclude<ResponsesContent, string>[number];
type FilePart = Extract<Part, { type: 'input_image' | 'input_file' }>;

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
  if (dataUrl.safeParse(given).success) return { type: 'file', file: { file_data: given } };
  if (!fileUrl.safeParse(given).success)
    throw badInput(field, `\`${field}\` must be a data: URL in base64, or an https address.`);
  return { type: 'file', file: { file_url: given } };
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
