import type { Content, Part } from '#shared/conversation/documents/content.ts';
import { OPENING } from '#shared/conversation/repair/repair-prompt.ts';
import {
  refuseTooLong,
  toPart,
  type InputPart,
  type MessageLimits,
} from '#shared/wire/resources/message-parts.ts';
import type { OpenAiMessage, OpenAiUserMessage } from '#shared/wire/facades/openai.ts';
import { mediaTypeOfAddress, readDataUrl } from '#shared/wire/data-url.ts';
import { badField } from './bad-field.ts';
import { toCallParts, toResponsePart, type OpenSignature } from './tool-dialogue.ts';

type UserPart = Exclude<OpenAiUserMessage['content'], string>[number];

/** A picture or a file in its address, or behind an https one. */
function fileAt(url: string, field: string, named?: string): InputPart {
  const data = readDataUrl(url);
  if (data) return { type: 'file', ...data };
  const mediaType = named ?? mediaTypeOfAddress(url);
  if (mediaType !== undefined) return { type: 'file', url, mediaType };
  throw badField(
    field,
    `\`${field}\` must end as a file of a known type does, such as .png or .pdf. Send a data: URL in base64 instead.`,
  );
}

function inputPartOf(part: UserPart, field: string): InputPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image_url') return fileAt(part.image_url.url, `${field}.image_url.url`);
  const { file_data: data, file_id: uploadId, file_url: url, media_type: type } = part.file;
  if (uploadId !== undefined) return { type: 'file', uploadId };
  return fileAt(data ?? url ?? '', `${field}.file`, type);
}

const isEmpty = (part: InputPart) => part.type === 'text' && part.text === '';

/** What a user's message says, the `index`th of its request, without empty texts. Throws BAD_FIELD, TEXT_TOO_LONG. */
export function toUserParts(
  { content }: OpenAiUserMessage,
  limits: MessageLimits,
  index: number,
): Part[] {
  const parts: InputPart[] =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : content.map((part, place) => inputPartOf(part, `messages[${index}].content[${place}]`));
  const said = parts.filter((part) => !isEmpty(part));
  refuseTooLong(said, limits, `messages[${index}].content`);
  return said.map(toPart);
}

/** What a user has typed in a message: of files nothing. */
export const typedIn = ({ content }: OpenAiUserMessage): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** How many files the messages bring in front of the user's newest; behind what a tool gave, all are in front. */
export function countEarlierFiles(messages: readonly OpenAiMessage[]): number {
  const end = messages.at(-1)?.role === 'user' ? -1 : messages.length;
  return messages
    .slice(0, end)
    .flatMap((message) =>
      message.role === 'user' && typeof message.content !== 'string' ? message.content : [],
    )
    .filter(({ type }) => type !== 'text').length;
}

/** The text of a message that is not the user's; '' for one that has none. */
export function messageText({ content }: Exclude<OpenAiMessage, OpenAiUserMessage>): string {
  if (content === null || content === undefined) return '';
  return typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : part.refusal)).join('');
}

interface Reading {
  /** Place of the message in its request. */
  index: number;
  limits: MessageLimits;
  openSignature: OpenSignature;
  /** Names of the functions that were called before it, by the ids of the calls. */
  called: ReadonlyMap<string, string>;
}

/** What one message of a dialogue says; nothing for an instruction. */
function contentOf(message: OpenAiMessage, reading: Reading): Content | undefined {
  const { index, limits, called } = reading;
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: toUserParts(message, limits, index) };
    case 'assistant': {
      const text = messageText(message);
      const said = text === '' ? [] : [{ text }];
      return { role: 'model', parts: [...said, ...toCallParts(message, reading)] };
    }
    case 'tool': {
      const text = messageText(message);
      return { role: 'user', parts: [toResponsePart(message, { called, index, text })] };
    }
    case 'system':
    case 'developer':
      return undefined;
  }
}

/** Whether a content is what tools gave; that stands alone, so the first part tells. */
const isResponse = ({ parts: [first] }: Content) => first?.functionResponse !== undefined;

/**
 * A dialogue as the model takes it: neighbours of one role joined, so that roles alternate, but for what tools gave,
 * which stands alone; nothing empty, and a user's words first. Throws BAD_FIELD, TEXT_TOO_LONG.
 */
export function toContents(
  messages: readonly OpenAiMessage[],
  { limits, openSignature }: Pick<Reading, 'limits' | 'openSignature'>,
): Content[] {
  const contents: Content[] = [];
  const called = new Map<string, string>();
  for (const [index, message] of messages.entries()) {
    const content = contentOf(message, { index, limits, openSignature, called });
    if (message.role === 'assistant')
      for (const call of message.tool_calls ?? []) called.set(call.id, call.function.name);
    if (!content || content.parts.length === 0) continue;
    const last = contents.at(-1);
    if (last?.role === content.role && isResponse(last) === isResponse(content))
      last.parts.push(...content.parts);
    else contents.push(content);
  }
  return contents[0]?.role === 'model' ? [OPENING, ...contents] : contents;
}

/** The client's own instructions, as fields of the request. */
export const systemFields = (messages: readonly OpenAiMessage[]): string[] =>
  messages.flatMap(({ role }, index) =>
    role === 'system' || role === 'developer' ? [`messages[${index}]`] : [],
  );

/** What a client's system messages say, in their order; undefined when they say nothing. */
export function findInstruction(messages: readonly OpenAiMessage[]): string | undefined {
  const texts = messages.flatMap((message) =>
    message.role === 'system' || message.role === 'developer' ? [messageText(message)] : [],
  );
  const text = texts.filter((each) => each !== '').join('\n\n');
  return text === '' ? undefined : text;
}
