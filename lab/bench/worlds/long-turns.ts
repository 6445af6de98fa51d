import { once } from '#shared/once.ts';
import { startEmulatedChat, type EmulatedChat } from './emulated-chat.ts';
import { buildLongConversation } from './long-conversation.ts';
import { oneTurn, type TurnWork } from './one-turn.ts';

/** How many past turns they have, where nothing else is asked. */
export const turnSizes = [10, 100, 1_000, 10_000] as const;
export type TurnSize = (typeof turnSizes)[number];

export interface LongTurns<Size extends number> {
  world: () => Promise<EmulatedChat>;
  /** One turn of the conversation with so many others. */
  turn: (size: Size, options?: { recallTokens?: number }) => Promise<TurnWork>;
  /** The first turn of that conversation, when the instance knew nothing of it. */
  coldTurn: (size: Size) => Promise<TurnWork>;
  /** What the newest turn of each size took, in a line. */
  table: () => string;
  close: () => Promise<void>;
}

/** Conversations with so many past turns in one database, each with an instance that knows it; made when first asked for. */
export function createLongTurns<Size extends number>(sizes: readonly Size[]): LongTurns<Size> {
  let isOpen = false;
  const newest = new Map<Size, TurnWork>();
  const open = once(async () => {
    isOpen = true;
    const world = await startEmulatedChat();
    const conversations = new Map<Size, { id: string; cold: TurnWork }>();
    for (const size of sizes) {
      const id = await buildLongConversation(world, size);
      // The first one reads the context; those that are measured find it in the cache.
      conversations.set(size, { id, cold: await oneTurn(world, id) });
      newest.set(size, await oneTurn(world, id));
    }
    return { world, conversations };
  });
  const conversationOf = async (size: Size) => {
    const { world, conversations } = await open();
    const conversation = conversations.get(size);
    if (!conversation) throw new Error(`no conversation of ${size} turns`);
    return { world, ...conversation };
  };
  return {
    world: async () => (await open()).world,
    turn: async (size, options) => {
      const { world, id } = await conversationOf(size);
      const turn = await oneTurn(world, id, options);
      if (!options) newest.set(size, turn);
      return turn;
    },
    coldTurn: async (size) => (await conversationOf(size)).cold,
    table: () =>
      [...newest]
        .map(
          ([size, { ms, reads, writes, bytes, promptTokens, recalledTokens }]) =>
            `${size.toLocaleString('en-US')} turns: ${Math.round(ms)} ms, ${reads} reads, ${writes} writes, ${bytes} bytes, ${promptTokens} tokens, of them ${recalledTokens} recalled`,
        )
        .join('; '),
    close: async () => {
      if (isOpen) await (await open()).world.close();
    },
  };
}
