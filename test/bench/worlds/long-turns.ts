import { once } from '../../../shared/once.ts';
import { startEmulatedChat, type EmulatedChat } from './emulated-chat.ts';
import { buildLongConversation } from './long-conversation.ts';
import { oneTurn, type TurnWork } from './one-turn.ts';

/** How many past turns the conversations have. */
export const turnSizes = [10, 100, 1_000, 10_000] as const;

export type TurnSize = (typeof turnSizes)[number];

export interface LongTurns {
  world: () => Promise<EmulatedChat>;
  /** One turn of the conversation with so many others. */
  turn: (size: TurnSize) => Promise<TurnWork>;
  /** What the newest turn of each size took, in a line. */
  table: () => string;
  close: () => Promise<void>;
}

/** Conversations of all sizes in one database, each with an instance that knows it; made when first asked for. */
export function createLongTurns(): LongTurns {
  let isOpen = false;
  const newest = new Map<TurnSize, TurnWork>();
  const open = once(async () => {
    isOpen = true;
    const world = await startEmulatedChat();
    const ids = new Map<TurnSize, string>();
    for (const size of turnSizes) {
      const id = await buildLongConversation(world, size);
      ids.set(size, id);
      // The first one reads the context; those that are measured find it in the cache.
      await oneTurn(world, id);
      newest.set(size, await oneTurn(world, id));
    }
    return { world, ids };
  });
  return {
    world: async () => (await open()).world,
    turn: async (size) => {
      const { world, ids } = await open();
      const turn = await oneTurn(world, ids.get(size) ?? '');
      newest.set(size, turn);
      return turn;
    },
    table: () =>
      [...newest]
        .map(
          ([size, { ms, reads, writes, bytes, promptTokens }]) =>
            `${size.toLocaleString('en-US')} turns: ${Math.round(ms)} ms, ${reads} reads, ${writes} writes, ${bytes} bytes, ${promptTokens} tokens`,
        )
        .join('; '),
    close: async () => {
      if (isOpen) await (await open()).world.close();
    },
  };
}
