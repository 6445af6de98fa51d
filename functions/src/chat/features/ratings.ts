import { decodeRating, type Rating } from '#shared/conversation/documents/history.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { generationNotFound, messageNotFoundError } from '../not-found.ts';
import { findMessage, unfinishedTurnError } from '../conversations/erase/find-message.ts';
import { readOwnConversation, type ConversationTarget } from '../conversations/own-conversation.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { readHistories } from '#shared/conversation/context/find-history.ts';
import type { Versioned } from '#shared/conversation/documents/conversation.ts';
import { turnPath, ratingPath } from '#shared/conversation/documents/paths.ts';
import {
  type Feedback,
  hasAnswer,
  isTerminal,
  type Turn,
} from '#shared/conversation/documents/turn.ts';
import { sameConversationWrite } from '#shared/conversation/writes/same-conversation.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Write, StoredDocument } from '#shared/ports/ports.ts';

type FeedbackDependencies = Pick<ChatDependencies, 'store' | 'clock'>;

interface FeedbackOf extends ConversationTarget {
  messageId: string;
}

/** The turn of an answer that is there and has ended. */
async function readAnswer(
  dependencies: FeedbackDependencies,
  feedback: FeedbackOf,
): Promise<Versioned<Turn>> {
  const { conversationId, messageId } = feedback;
  const { conversation } = await readOwnConversation(dependencies, feedback);
  const found = await findMessage(
    dependencies,
    { conversationId, conversation: conversation.value },
    messageId,
  );
  if (!found.isAnswer)
    throw new AppError({
      reason: 'NOT_AN_ANSWER',
      publicMessage: 'Feedback is given on answers. Name the answer by its id, such as m_17.',
      metadata: { messageId },
    });
  const { value } = found.turn;
  if (!isTerminal(value.state)) throw unfinishedTurnError(found.seq);
  if (!hasAnswer(value) || value.eraseTime) throw messageNotFoundError(messageId);
  return found.turn;
}

/**
 * Writes to a finished turn under its update time, so that nothing is written to one that is being erased.
 * `decide` returns undefined when there is nothing to write.
 */
async function changeAnswer(
  dependencies: FeedbackDependencies,
  feedback: FeedbackOf,
  decide: (turn: Turn) => Pick<Extract<Write, { op: 'update' }>, 'fields' | 'remove'> | undefined,
): Promise<void> {
  await retryWhenLost(dependencies.clock, async () => {
    const { value, updateTime } = await readAnswer(dependencies, feedback);
    const change = decide(value);
    if (!change) return;
    const path = turnPath(feedback.conversationId, value.seq);
    await dependencies.store.commit([{ op: 'update', path, ...change, guard: { updateTime } }]);
  });
}

type GivenFeedback = Omit<Feedback, 'time'>;

const isSame = (a: GivenFeedback, b: GivenFeedback) =>
  a.rating === b.rating && a.reason === b.reason && a.comment === b.comment;

/**
 * Says what the user thinks of an answer, in the place of what they said before. The same again changes
 * nothing. Throws NOT_FOUND, MESSAGE_NOT_FOUND, NOT_AN_ANSWER, TURN_IN_PROGRESS.
 */
export async function putFeedback(
  dependencies: FeedbackDependencies,
  request: FeedbackOf & { feedback: GivenFeedback },
): Promise<Feedback> {
  const { rating, reason, comment } = request.feedback;
  let result: Feedback = { rating, reason, comment, time: dependencies.clock.now() };
  await changeAnswer(dependencies, request, ({ feedback: before }) => {
    if (!before || !isSame(before, result)) return { fields: { feedback: { ...result } } };
    result = before;
    return undefined;
  });
  return result;
}

/**
 * Takes back what the user said of an answer; where they said nothing there is nothing to do. Throws
 * NOT_FOUND, MESSAGE_NOT_FOUND, NOT_AN_ANSWER, TURN_IN_PROGRESS.
 */
export const deleteFeedback = (
  dependencies: FeedbackDependencies,
  request: FeedbackOf,
): Promise<void> =>
  changeAnswer(dependencies, request, ({ feedback }) =>
    feedback ? { fields: {}, remove: ['feedback'] } : undefined,
  );

interface RateRequest extends ConversationTarget {
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
  if (!history) throw generationNotFound(generation);
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
