import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import { openedRange, type FoldedRange } from '#shared/hooks/folded-turns.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { notFoundError } from '../not-found.ts';
import { messageLines } from './export-conversation.ts';

const invalidToken = () =>
  new AppError({
    status: 'UNAUTHENTICATED',
    reason: 'READ_TOKEN_INVALID',
    message: 'folded turns were asked for without a valid token',
    publicMessage:
      'Send the `token` of a preCompact call in the header `X-Recap-Read-Token`, before its `expireTime`, to the `path` beside it.',
  });

/** The conversation is still the one that was compacted, at most by the swap itself or one other change further. */
const isOpen = (conversation: Conversation, { epoch, generation }: FoldedRange) =>
  conversation.state === 'live' &&
  conversation.epoch === epoch &&
  conversation.generation >= generation &&
  conversation.generation <= generation + 1;

/**
 * The turns that a compaction folds, as lines of an export, for the hook that was given a token to read them with. What
 * their user has deleted meanwhile says so. Throws READ_TOKEN_INVALID, and NOT_FOUND once the conversation is deleted or two generations
 * further; what throws later breaks the text off.
 */
export async function readFoldedTurns(
  dependencies: Pick<ChatDependencies, 'store' | 'signer' | 'clock' | 'logger'>,
  { conversationId, token }: { conversationId: string; token: string | undefined },
): Promise<AsyncGenerator<string>> {
  const { store, signer, clock, logger } = dependencies;
  const asked = { conversationId, token: token ?? '' };
  const range = signer && openedRange(signer, asked, clock.now());
  if (!range) throw invalidToken();
  const [document] = await store.get([conversationPath(conversationId)]);
  if (!document || !isOpen(decodeConversation(document).value, range))
    throw notFoundError(conversationId);
  const { generation, from, upTo } = range;
  logger.log('INFO', 'folded_turns_read', { conversationId, generation, from, upTo });
  return messageLines(dependencies, { conversationId, from, upTo });
}
