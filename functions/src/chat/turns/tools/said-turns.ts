import { contentText, type Content } from '#shared/conversation/documents/content.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { readTurnRange } from '#shared/conversation/context/read-conversation.ts';
import type { SaidTurn } from '#shared/memory/said-by-user.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import type { ToolCallContext } from './server-tool.ts';

/** The message without the text of its files: those are somebody's words, and no wish of the user. */
const ownParts = (user: Content): Content => ({
  ...user,
  parts: user.parts.filter(({ upload }) => upload === undefined),
});

/** How far back a note may reach for the user's words. */
const RECENT_TURNS = 20;

interface RecentWords {
  conversation: Versioned<Conversation>;
  /** The oldest first, the turn of the call last. */
  turns: SaidTurn[];
}

/**
 * What the user said in the newest turns, that of the call included, without turns that were replaced or
 * erased. Throws NOT_FOUND, StoreUnavailableError.
 */
export async function readSaidTurns(
  dependencies: Pick<ChatDependencies, 'store' | 'cache'>,
  { caller, conversationId, seq }: Pick<ToolCallContext, 'caller' | 'conversationId' | 'seq'>,
): Promise<RecentWords> {
  const { conversation } = await readOwnConversation(dependencies, { caller, conversationId });
  const fromSeq = Math.max(1, seq - RECENT_TURNS + 1);
  const range = { conversationId, conversation: conversation.value, fromSeq, toSeq: seq };
  const turns = await readTurnRange(dependencies, range);
  return {
    conversation,
    turns: turns
      .filter((turn) => turn.inContext || turn.seq === seq)
      .map(({ seq: input, user, createTime }) => ({
        seq: input,
        text: contentText(ownParts(user)),
        at: createTime,
      })),
  };
}
