import type { Content } from '#shared/conversation/documents/content.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { classifierRequest, routeIn } from '#shared/routing/classifier-prompt.ts';
import type { Route } from '#shared/routing/routing.ts';
import { timeoutAfter } from '#functions/lib/deadline.ts';
import { answeringModel } from '#functions/models/models-in-use.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { takenBy, takenInVain, type Taken } from '#functions/quota/paid-call.ts';
import { listenTo } from './auxiliary-model-call.ts';

/**
 * How long a choice may take, ms: what a person who waits for the first word puts up with on top of it. A cheap
 * model takes 0.3 to 0.8 s for a sentence; one that takes longer is busy.
 */
export const ROUTING_TIMEOUT_MS = 2_000;

/** What is read of an answer that does not end, UTF-16 units. */
const ANSWER_CHARACTERS = 4_000;

/** What is to be judged, of whose conversation. */
interface ToBeRouted {
  conversationId: string;
  seq: number;
  dialogue: readonly Content[];
  message: Content;
}

const timeoutError = (cause: unknown) =>
  new AppError({
    status: 'DEADLINE_EXCEEDED',
    reason: 'MODEL_TIMEOUT',
    message: `the classifier gave no choice within ${ROUTING_TIMEOUT_MS} ms`,
    publicMessage: 'The model did not answer in time.',
    retryable: true,
    cause,
  });

/** What a cheap model has chosen, if anything, and what that took; undefined: it was not asked. */
interface Classified {
  route: Route | undefined;
  spent: Taken | undefined;
}

/**
 * Asks a cheap model which of the two is to answer, for 2 s at most, out of what the turn has reserved. No route where it
 * failed, answered something else, was left alone because it had failed before, or `signal` fired. Never throws; the log
 * says why, and never what was said.
 */
export async function askClassifier(
  dependencies: ChatDependencies,
  asked: ToBeRouted,
  signal: AbortSignal,
): Promise<Classified> {
  const { config, clock, logger, modelHealth } = dependencies;
  const { conversationId, seq } = asked;
  const model = answeringModel(config, config.QUICK_MODEL);
  const request: ModelRequest = {
    ...classifierRequest(model, asked),
    role: 'utility_router',
    promptId: `${turnId(seq)}-route`,
  };
  const begin = clock.now().getTime();
  const fields = () => ({ conversationId, seq, model, durationMs: clock.now().getTime() - begin });
  const timeout = timeoutAfter(dependencies, ROUTING_TIMEOUT_MS);
  let isAsked = false;
  const failed = (failure: unknown): Classified => ({
    route: undefined,
    spent: isAsked ? takenInVain(config, request, failure) : undefined,
  });
  try {
    modelHealth.refusePaused(model);
    isAsked = true;
    const answer = await listenTo(dependencies, {
      conversationId,
      request,
      maximumCharacters: ANSWER_CHARACTERS,
      signal: AbortSignal.any([timeout.signal, signal]),
    });
    modelHealth.answered(model);
    const { usage } = answer;
    const spent = takenBy(config, request, usage);
    const route = answer.finishReason === 'STOP' ? routeIn(answer.text) : undefined;
    logger.log(route ? 'INFO' : 'WARNING', route ? 'turn_routed' : 'routing_refused', {
      ...fields(),
      route,
      promptTokens: usage?.promptTokens,
      outputTokens: usage?.outputTokens,
      costMicros: usage && spent.costMicros,
    });
    return { route, spent };
  } catch (error) {
    if (signal.aborted) return failed(error);
    const failure = timeout.signal.aborted ? timeoutError(error) : error;
    modelHealth.failed(model, failure);
    const reason = failure instanceof AppError ? failure.reason : 'INTERNAL';
    logger.log('WARNING', 'routing_failed', { ...fields(), reason });
    return failed(failure);
  } finally {
    timeout.stop();
  }
}
