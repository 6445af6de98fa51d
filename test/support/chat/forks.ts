import { forkConversation } from '#functions/chat/conversations/fork/fork-conversation.ts';
import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import { owner, type Lifecycle } from './lifecycle.ts';

/** Forks as the owner; `messageId` is the last message that is copied. */
export const fork = (
  { chat }: Pick<Lifecycle, 'chat'>,
  conversationId: string,
  ...[messageId, id]: [messageId: string, id?: string]
) => forkConversation(chat, { caller: owner, conversationId, messageId, id });

const seqsUpTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

/** What the turns up to seq `last` hold that a fork has to hold too. */
export const transcript = async ({ store }: Lifecycle, conversationId: string, last: number) =>
  (await readTurns(store, conversationId, seqsUpTo(last))).map(({ value }) => [
    value.seq,
    value.messageId,
    value.user,
    value.contents,
  ]);
