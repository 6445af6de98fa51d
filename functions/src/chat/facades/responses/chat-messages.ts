import type { OpenAiMessage } from '#shared/wire/facades/openai.ts';
import type { ResponsesInputItem } from '#shared/wire/facades/responses/request.ts';
import { badInput } from './bad-input.ts';
import { findStoredCall } from './response-id.ts';
import { toText, toUserParts } from './input-parts.ts';

/** A message of a chat completion, and the field of this request that it comes from. */
export interface FieldMessage {
  message: OpenAiMessage;
  field: string;
}

/** How the turn of a conversation names a call, or the client’s own name. */
const chatCallId = (id: string) => findStoredCall(id)?.callId ?? id;

const referenceError = (field: string) =>
  badInput(
    field,
    `\`${field}\` refers to an item by its id. Name its \`conversation\` or \`previous_response_id\`, or send the item itself.`,
  );

type Signed = { signature: string | undefined };

function callOf(
  item: Extract<ResponsesInputItem, { type: 'function_call' }>,
  { signature }: Signed,
): OpenAiMessage {
  const extra =
    signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
  const { name, arguments: args } = item;
  const call = { id: chatCallId(item.call_id), type: 'function' as const, ...extra };
  return { role: 'assistant', tool_calls: [{ ...call, function: { name, arguments: args } }] };
}

/** One item as a message; undefined for one that says nothing by itself. Throws BAD_FIELD. */
function messageOf(
  item: ResponsesInputItem,
  field: string,
  signed: Signed,
): OpenAiMessage | undefined {
  switch (item.type) {
    case 'message': {
      const { role, content } = item;
      return role === 'user'
        ? { role, content: toUserParts(content, `${field}.content`) }
        : { role, content: toText(content, `${field}.content`) };
    }
    case 'function_call':
      return callOf(item, signed);
    case 'function_call_output': {
      const content = toText(item.output, `${field}.output`);
      return { role: 'tool', tool_call_id: chatCallId(item.call_id), content };
    }
    case 'reasoning':
    case 'compaction':
    case 'item_reference':
      return undefined;
  }
}

/**
 * The items of a request as messages of a chat completion. A reasoning item holds what the call after it was signed
 * with. Throws BAD_FIELD.
 */
export function toMessages(
  items: readonly ResponsesInputItem[],
  isStored: boolean,
): FieldMessage[] {
  const messages: FieldMessage[] = [];
  let signature: string | undefined;
  for (const [index, item] of items.entries()) {
    const field = `input[${index}]`;
    if (!isStored && item.type === 'item_reference') throw referenceError(field);
    const message = messageOf(item, field, { signature });
    if (message) messages.push({ message, field });
    signature = item.type === 'reasoning' ? (item.encrypted_content ?? undefined) : undefined;
  }
  return messages;
}

/** The user’s messages that a request ends with as one: they are answered together. */
export function joinLast(messages: readonly FieldMessage[]): FieldMessage[] {
  const first = messages.findLastIndex(({ message }) => message.role !== 'user') + 1;
  const last = messages.slice(first);
  const [one] = last;
  if (!one || last.length === 1) return [...messages];
  const content = last.flatMap(({ message }) =>
    message.role === 'user' && typeof message.content !== 'string' ? message.content : [],
  );
  return [...messages.slice(0, first), { ...one, message: { role: 'user', content } }];
}
