import { isDeepStrictEqual } from 'node:util';
import { memoryForPrompt, readNotes } from '#functions/memory/prompt-memory.ts';
import { viewNow } from '#functions/chat/context/view-now.ts';
import type { Config } from '#functions/config.ts';
import {
  noCache,
  readContextParts,
  readConversation,
} from '#shared/conversation/context/read-conversation.ts';
import type { DocumentStore, Sha256 } from '#shared/ports/ports.ts';

interface ShownItem {
  kind: string;
  seq?: number | undefined;
  content: unknown;
}

/** What `/context` shows of a conversation. */
export interface ShownContext {
  generation: number;
  items: readonly ShownItem[];
}

interface ContextReading {
  store: DocumentStore;
  config: Config;
  sha256: Sha256;
}

const silent = { log: () => undefined };

/** What the documents of a conversation make; undefined where it is not live. */
async function contextOfDocuments(
  { store, config, sha256 }: ContextReading,
  conversationId: string,
): Promise<ShownContext | undefined> {
  const conversation = (await readConversation(store, conversationId))?.value;
  if (conversation?.state !== 'live') return undefined;
  const source = { store, cache: noCache, logger: silent };
  const [{ history, turns, open }, notes] = await Promise.all([
    readContextParts(source, { conversationId, conversation }),
    readNotes({ store, config }, conversation.ownerUid),
  ]);
  const message = open && { message: open.user };
  const memory = memoryForPrompt(config, { conversation, notes, ...message });
  const context = { ...conversation, history, turns, memory: memory.standing };
  const openNow = open && { turn: open, said: memory.said };
  const { items } = viewNow({ config, sha256 }, context, openNow);
  return { generation: conversation.generation, items };
}

/** As JSON has it, without instruction and tools, which are no part of what documents make. */
const compared = ({ generation, items }: ShownContext): unknown =>
  JSON.parse(
    JSON.stringify({
      generation,
      items: items
        .filter(({ kind }) => kind !== 'system' && kind !== 'tools')
        .map(({ kind, seq, content }) => ({ kind, seq, content })),
    }),
  );

/** I9: whether `/context` shows what the documents make. */
export async function isContextTrue(
  reading: ContextReading,
  conversationId: string,
  shown: ShownContext,
): Promise<boolean> {
  const expected = await contextOfDocuments(reading, conversationId);
  return expected === undefined || isDeepStrictEqual(compared(shown), compared(expected));
}
