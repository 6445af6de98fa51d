import { restoreGeneration } from '#functions/chat/context/restore-generation.ts';
import { owner, type Lifecycle } from '../chat/lifecycle.ts';

/** The owner's request that brings a generation back. */
export const restore = (
  { chat }: Pick<Lifecycle, 'chat'>,
  conversationId: string,
  ...[generation, requestId]: [generation: number, requestId?: string]
) =>
  restoreGeneration(chat, {
    caller: owner,
    conversationId,
    generation,
    requestId,
    locale: undefined,
  });
