import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { toToolOutput } from '#shared/compaction/shorten-output.ts';
import { firstTailSeq, readTurnRange } from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

/** Turns of one read. */
const READ_TURNS = 20;

interface Wanted {
  conversationId: string;
  conversation: Conversation;
  /** Of the turn that asks: its own outputs count. */
  seq: number;
  /** SHA-256 of the output. */
  name: string;
}

/**
 * The text of a tool output by its name, from the turns that may still stand in the context and the turn that
 * asks, the newest first; undefined where none has it. A request that shortens outputs for itself alone stores
 * nothing, because they stand here: they go with their turn, and no other conversation has them.
 */
export async function findOutput(
  dependencies: Pick<ChatDependencies, 'store' | 'cache' | 'sha256'>,
  { conversationId, conversation, seq, name }: Wanted,
): Promise<string | undefined> {
  const textIn = (turn: Turn): string | undefined => {
    if (!turn.inContext && turn.seq !== seq) return undefined;
    for (const { parts } of turn.contents)
      for (const part of parts) {
        const text = toToolOutput(part)?.text;
        if (text !== undefined && dependencies.sha256(text) === name) return text;
      }
    return undefined;
  };
  const first = firstTailSeq(conversation);
  for (let toSeq = Math.max(seq, conversation.lastSeq); toSeq >= first; toSeq -= READ_TURNS) {
    const fromSeq = Math.max(first, toSeq - READ_TURNS + 1);
    const range = { conversationId, conversation, fromSeq, toSeq };
    for (const turn of (await readTurnRange(dependencies, range)).toReversed()) {
      const text = textIn(turn);
      if (text !== undefined) return text;
    }
  }
  return undefined;
}
