import { restoreGeneration } from '../../functions/src/chat/context/restore-generation.ts';
import { owner, type Lifecycle } from './lifecycle.ts';

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
