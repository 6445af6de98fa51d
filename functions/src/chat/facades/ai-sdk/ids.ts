import { messageIdSchema } from '#shared/wire/requests/ids.ts';
import { stableUuid } from '#shared/wire/stable-uuid.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';

type Hashing = Pick<ChatDependencies, 'sha256'>;

/** The message id of a UI message: its own when it is a UUID, else always the same one in its place. */
export const toMessageId = ({ sha256 }: Hashing, uiMessageId: string): string =>
  messageIdSchema.safeParse(uiMessageId).success
    ? uiMessageId.toLowerCase()
    : stableUuid(sha256, ['ai-sdk message', uiMessageId]);

/** Id of the message that says `parts` in the place of turn `seq`: the same edit again is the same message. */
export const toEditId = (
  { sha256 }: Hashing,
  { conversationId, seq, parts }: { conversationId: string; seq: number; parts: unknown },
): string =>
  stableUuid(sha256, ['ai-sdk edit', conversationId, String(seq), JSON.stringify(parts)]);

/** Id of the message that has an answer made anew: the same wish again is the same regeneration. */
export const toRegenerationId = (
  { sha256 }: Hashing,
  { conversationId, answerId }: { conversationId: string; answerId: string },
): string => stableUuid(sha256, ['ai-sdk regeneration', conversationId, answerId]);
