import { readHistories } from '#shared/conversation/context/find-history.ts';
import { ratingPath } from '#shared/conversation/documents/paths.ts';
import { decodeRating, type Rating } from '#shared/conversation/documents/rating.ts';
import { sameConversationWrite } from '#shared/conversation/writes/status-write.ts';
import type { Caller, StoredDocument, Write } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { generationNotFound } from '../context/generation-errors.ts';
import { readOwnConversation } from '../conversations/own-conversation.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';

interface RateRequest {
  caller: Caller;
  conversationId: string;
  generation: number;
  score: number;
  comment?: string | undefined;
}

const ratingWrite = (
  path: string,
  { rating, before }: { rating: Rating; before: StoredDocument | undefined },
): Write =>
  before
    ? {
        op: 'update',
        path,
        fields: { ...rating },
        ...(rating.comment === undefined && { remove: ['comment'] }),
        guard: { updateTime: before.updateTime },
      }
    : { op: 'create', path, fields: { ...rating } };

/** One try, from reading to writing. Throws GuardLostError. */
async function rateOnce(
  dependencies: Pick<ChatDependencies, 'store' | 'logger' | 'clock'>,
  request: RateRequest,
): Promise<{ rating: Rating; strategy: string; variant: string | undefined } | Rating> {
  const { conversationId, generation, score, comment } = request;
  const { conversation } = await readOwnConversation(dependencies, request);
  const target = { conversationId, conversation: conversation.value };
  const [history] =
    generation <= conversation.value.generation
      ? await readHistories(dependencies, target, [generation])
      : [];
  if (!history) throw generationNotFound(conversationId, generation);
  const path = ratingPath(conversationId, generation);
  const [before] = await dependencies.store.get([path]);
  const known = before && decodeRating(before);
  if (known && known.score === score && known.comment === comment) return known;
  const time = dependencies.clock.now();
  const rating: Rating = { schemaVersion: 1, generation, score, comment, time };
  await dependencies.store.commit([
    sameConversationWrite(conversationId, conversation.updateTime),
    ratingWrite(path, { rating, before }),
  ]);
  return { rating, strategy: history.strategy, variant: history.variant };
}

/**
 * Says how good the user finds the compaction that made a generation, in the place of what they said
 * before; the same again changes nothing. The score is logged with the strategy and the variant, to compare
 * them; the comment is only stored. Throws NOT_FOUND, GENERATION_NOT_FOUND, GuardLostError.
 */
export async function rateCompaction(
  dependencies: Pick<ChatDependencies, 'store' | 'logger' | 'clock'>,
  request: RateRequest,
): Promise<Rating> {
  const { conversationId, generation, score } = request;
  const done = await retryWhenLost(dependencies.clock, () => rateOnce(dependencies, request));
  if (!('rating' in done)) return done;
  const { rating, strategy, variant } = done;
  const figures = { conversationId, generation, score, strategy, variant };
  dependencies.logger.log('INFO', 'compaction_rated', figures);
  return rating;
}
