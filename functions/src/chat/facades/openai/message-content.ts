import type { Content, Part } from '#shared/conversation/documents/content.ts';
import { OPENING } from '#shared/conversation/repair/repair-prompt.ts';
import {
  refuseTooLong,
  toPart,
  type InputPart,
  type MessageLimits,
} from '#shared/wire/resources/message-parts.ts';
import type { OpenAiMessage, OpenAiUserMessage } from '#shared/wire/facades/openai.ts';
import { AppError } from '#shared/errors.ts';

/** A request that cannot be answered for one of its fields (BAD_FIELD, 400). */
export const badField = (field: string, publicMessage: string): AppError =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'BAD_FIELD',
    message: `a chat completion was refused for its ${field}`,
    publicMessage,
    metadata: { field },
  });

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;

type UserPart = Exclude<OpenAiUserMessage['content'], string>[number];

function inputPartOf(part: UserPart): InputPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const [, mediaType = '', data = ''] = DATA_URL.exec(part.image_url.url) ?? [];
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

/**
 * A dialogue as the model takes it: neighbours of one role joined, so that roles alternate, nothing empty, and a
 * user's words first.
 */
export function toContents(messages: readonly OpenAiMessage[], limits: MessageLimits): Content[] {
  const contents: Content[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'user' && message.role !== 'assistant') continue;
    const role = message.role === 'user' ? 'user' : 'model';
    const parts =
      message.role === 'user'
        ? toUserParts(message, limits, index)
        : [{ text: messageText(message) }];
    const said = parts.filter(({ text }) => text !== '');
    if (said.length === 0) continue;
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...said);
    else contents.push({ role, parts: [...said] });
  }
  return contents[0]?.role === 'model' ? [OPENING, ...contents] : contents;
}

/** What a client's system messages say, in their order; undefined when they say nothing. */
export function findInstruction(messages: readonly OpenAiMessage[]): string | undefined {
  const texts = messages.flatMap((message) =>
    message.role === 'system' || message.role === 'developer' ? [messageText(message)] : [],
  );
  const text = texts.filter((each) => each !== '').join('\n\n');
  return text === '' ? undefined : text;
}
