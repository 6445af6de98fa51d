import { failureReason } from '#functions/lib/failure-reason.ts';
import { boundedAnswer } from '#shared/conversation/repair/bounded-answer.ts';
import type {
  Clock,
  Logger,
  ModelGenerator,
  ModelRequest,
  ModelResponse,
  ModelUsage,
} from '#shared/ports/ports.ts';

/** What is told of one call of a model that has ended. */
interface EndedCall {
  request: Pick<ModelRequest, 'model' | 'role' | 'promptId'>;
  /** Absent where the call belongs to none. */
  conversationId?: string | undefined;
  /** Of the words that it was asked with, where they have one. */
  promptVersion?: string | undefined;
  startMs: number;
  usage?: ModelUsage | undefined;
  finishReason?: string | undefined;
  /** What it ended with instead of an answer. */
  error?: unknown;
}

/** One line for each call of a model: who asked (`role`), which call it was (`promptId`), what it took. No text. */
export function logModelCall(
  { clock, logger }: { clock: Pick<Clock, 'now'>; logger: Pick<Logger, 'log'> },
  { request, conversationId, promptVersion, startMs, usage, finishReason, error }: EndedCall,
): void {
  const { role, promptId, model } = request;
  logger.log('INFO', 'model_call', {
    conversationId,
    role,
    promptId,
    promptVersion,
    model,
    promptTokens: usage?.promptTokens,
    cachedTokens: usage?.cachedTokens,
    outputTokens: usage?.outputTokens,
    thoughtsTokens: usage?.thoughtsTokens,
    toolTokens: usage?.toolTokens,
    searches: usage?.searches,
    finishReason,
    reason: error === undefined ? undefined : failureReason(error),
    durationMs: clock.now().getTime() - startMs,
  });
}

interface Call {
  request: ModelRequest;
  conversationId: string;
  /** Of the words that ask, for the log. */
  promptVersion?: string | undefined;
  signal: AbortSignal;
}

/** One answer, bounded, and a log line of the call, also where it fails. Throws what the model throws. */
export async function generateLogged(
  dependencies: { model: ModelGenerator; clock: Pick<Clock, 'now'>; logger: Pick<Logger, 'log'> },
  { signal, ...asked }: Call,
): Promise<ModelResponse> {
  const call = { ...asked, startMs: dependencies.clock.now().getTime() };
  try {
    const answer = boundedAnswer(await dependencies.model.generate(call.request, signal));
    logModelCall(dependencies, { ...call, ...answer });
    return answer;
  } catch (error) {
    logModelCall(dependencies, { ...call, error });
    throw error;
  }
}
