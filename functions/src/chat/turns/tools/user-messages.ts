import type { Part } from '#shared/conversation/documents/content.ts';
import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { readTurnRange } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { mayShowText, type UserMessage } from '#shared/memory/quote-user.ts';
import { typedTexts } from '#shared/uploads/upload-parts.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { readOwnConversation } from '#functions/chat/conversations/own-conversation.ts';
import type { ToolCallOrigin } from './server-tool.ts';

/** How far back words of the user are looked for, folded turns included. */
const TURNS_READ = 100;

interface UserMessages {
  conversation: Versioned<Conversation>;
  /** The oldest first, that of the call last. */
  messages: UserMessage[];
  /**
   * Somebody else than the user and the model may have spoken in one of the turns so far: the prompt, or a summary in it, may
   * tell of a tool's output, a file, a text of the app or one that a message shows.
   */
  showsOthers: boolean;
}

/** Their outputs are ids and the user’s own words. */
const memoryTools = new Set(['save_memory', 'forget_memory']);

const isOfOthers = ({ functionResponse, upload, fileData, inlineData }: Part): boolean =>
  (functionResponse !== undefined && !memoryTools.has(functionResponse.name)) ||
  upload !== undefined ||
  fileData !== undefined ||
  inlineData !== undefined;

const turnShowsOthers = ({ user, contents, surroundings, grounding }: Turn): boolean =>
  surroundings !== undefined ||
  grounding !== undefined ||
  mayShowText(typedTexts(user)) ||
  [user, ...contents].some(({ parts }) => parts.some(isOfOthers));

/**
 * What the user wrote in the newest turns, that of the call included, without turns that were replaced or erased.
 * Throws NOT_FOUND, StoreUnavailableError.
 */
export async function readUserMessages(
  dependencies: Pick<ChatDependencies, 'store' | 'cache'>,
  { caller, conversationId, seq }: ToolCallOrigin,
): Promise<UserMessages> {
  const { conversation } = await readOwnConversation(dependencies, { caller, conversationId });
  const fromSeq = Math.max(1, seq - TURNS_READ + 1);
  const range = { conversationId, conversation: conversation.value, fromSeq, toSeq: seq };
  const turns = (await readTurnRange(dependencies, range)).filter(
    (turn) => turn.inContext || turn.seq === seq,
  );
  return {
    conversation,
    messages: turns.map((turn) => ({
      seq: turn.seq,
      at: turn.createTime,
      texts: typedTexts(turn.user),
    })),
    showsOthers: fromSeq > 1 || turns.some(turnShowsOthers),
  };
}
