import { boundedAnswer } from '#shared/conversation/repair/bounded-answer.ts';
import type {
  Clock,
  Logger,
  ModelGenerator,
  ModelRequest,
  ModelResponse,
} from '#shared/ports/ports.ts';
import { logModelCall } from './log-model-call.ts';

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
