import type { Content, Part } from '#shared/conversation/documents/content.ts';
import { OPENING } from '#shared/conversation/repair/repair-prompt.ts';
import {
  refuseTooLong,
  toPart,
  type InputPart,
  type MessageLimits,
} from '#shared/wire/resources/message-parts.ts';
import type { OpenAiMessage, OpenAiUserMessage } from '#shared/wire/facades/openai.ts';
import { toCallParts, toResponsePart } from './tool-dialogue.ts';

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;

type UserPart = Exclude<OpenAiUserMessage['content'], string>[number];

function inputPartOf(part: UserPart): InputPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const file = part.type === 'file' ? part.file : { file_data: part.image_url.url };
  const { file_data: dataUrl = '', file_id: uploadId, file_url: url, media_type: type } = file;
  if (uploadId !== undefined) return { type: 'file', uploadId };
  if (url !== undefined)
    return { type: 'file', url, ...(type !== undefined && { mediaType: type }) };
  const [, mediaType = '', data = ''] = DATA_URL.exec(dataUrl) ?? [];
  return { type: 'file', mediaType, data };
}

const isEmpty = (part: InputPart) => part.type === 'text' && part.text === '';

/** What a user's message says, the `index`th of its request, without empty texts. Throws TEXT_TOO_LONG. */
export function toUserParts(
  { content }: OpenAiUserMessage,
  limits: MessageLimits,
  index: number,
): Part[] {
  const parts: InputPart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(inputPartOf);
  const said = parts.filter((part) => !isEmpty(part));
  refuseTooLong(said, limits, `messages[${index}].content`);
  return said.map(toPart);
}

/** The text of a message that is not the user's; '' for one that has none. */
export function messageText({ content }: Exclude<OpenAiMessage, OpenAiUserMessage>): string {
  if (content === null || content === undefined) return '';
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
}

interface Dialogue {
  limits: MessageLimits;
  /** Functions that were called so far, by the ids of the calls. */
  functionNames: Map<string, string>;
}

/** What one message of a dialogue says; nothing for an instruction. */
function partsOf(
  message: OpenAiMessage,
  index: number,
  { limits, functionNames }: Dialogue,
): { role: Content['role']; parts: Part[] } | undefined {
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: toUserParts(message, limits, index) };
    case 'assistant': {
      const text = messageText(message);
      const said = text === '' ? [] : [{ text }];
      for (const call of message.tool_calls ?? []) functionNames.set(call.id, call.function.name);
      return { role: 'model', parts: [...said, ...toCallParts(message, index)] };
    }
    case 'tool': {
      const name = functionNames.get(message.tool_call_id);
      return { role: 'user', parts: [toResponsePart(messageText(message), { name, index })] };
    }
    case 'system':
    case 'developer':
      return undefined;
  }
}

/** Only what is alike is joined, so the first part tells. */
const holdsResponses = ({ parts: [first] }: Pick<Content, 'parts'>) =>
  first?.functionResponse !== undefined;

/**
 * A dialogue as the model takes it: neighbours of one role joined, so that roles alternate, but for what tools gave,
 * which stands alone; nothing empty, and a user's words first. Throws BAD_FIELD, TEXT_TOO_LONG.
 */
export function toContents(messages: readonly OpenAiMessage[], limits: MessageLimits): Content[] {
  const contents: Content[] = [];
  const dialogue = { limits, functionNames: new Map<string, string>() };
  for (const [index, message] of messages.entries()) {
    const said = partsOf(message, index, dialogue);
    if (!said || said.parts.length === 0) continue;
    const last = contents.at(-1);
    if (last?.role === said.role && holdsResponses(last) === holdsResponses(said))
      last.parts.push(...said.parts);
    else contents.push(said);
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
