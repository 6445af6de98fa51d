import {
  decodeConversation,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { messageIdSchema } from '#shared/wire/fields.ts';
import type { AnswerOptions } from '#shared/models/answer-options.ts';
import type { OpenAiMessage } from '#shared/wire/facades/openai.ts';
import { stableUuid } from '#shared/wire/stable-uuid.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

/** Names the message. */
export const KEY_HEADER = 'idempotency-key';

/** Every SDK of OpenAI sends a request again by itself, after 408, 409, 429, 5xx and a lost connection, and counts. */
export const RETRIES_HEADER = 'x-stainless-retry-count';

type Header = (name: string) => string | undefined;

export const isRetry = (header: Header) => Number(header(RETRIES_HEADER) ?? 0) > 0;

/** The id of a message that the client has named by a header. */
export function namedMessageId(
  { sha256 }: Pick<ChatDependencies, 'sha256'>,
  { conversationId, header }: { conversationId: string; header: Header },
): string | undefined {
  const key = header(KEY_HEADER)?.trim() ?? '';
  if (key === '') return undefined;
  return messageIdSchema.safeParse(key).success
    ? key
    : stableUuid(sha256, ['openai', conversationId, 'key', key]);
}

/**
 * Ids of a message that has none, by the turn that it is said after: made of the conversation, all that the request
 * says, and how it is to be answered. Another wish is another message; a system message is not looked at.
 */
export function messageIdAfter(
  { sha256 }: Pick<ChatDependencies, 'sha256'>,
  message: {
    conversationId: string;
    messages: readonly OpenAiMessage[];
    options: AnswerOptions | undefined;
  },
): (seq: number) => string {
  const { conversationId, messages, options } = message;
  const said = messages
    .filter(({ role }) => role === 'user' || role === 'assistant')
    .map(({ role, content }) => [role, content ?? '']);
  const content = sha256(JSON.stringify([said, options]));
  return (seq) => stableUuid(sha256, ['openai', conversationId, 'after', String(seq), content]);
}

/** What the message's place and the model's name are read from; undefined for what is not the caller's. */
export async function readOwnConversation(
  { store }: Pick<ChatDependencies, 'store'>,
  target: { uid: string; path: string },
): Promise<Conversation | undefined> {
  const [document] = await store.get([target.path]);
  const conversation = document && decodeConversation(document).value;
  return conversation?.ownerUid === target.uid ? conversation : undefined;
}
