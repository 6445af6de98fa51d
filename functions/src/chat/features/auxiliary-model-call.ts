import { addAfterwork, type ChatDependencies } from '../chat-dependencies.ts';
import { untilAborted } from '#functions/lib/async-iterators.ts';
import { logModelCall } from '#functions/models/log-model-call.ts';
import { paidCall, type WorkCall } from '#functions/quota/paid-call.ts';
import { boundedAnswer } from '#shared/conversation/repair/bounded-answer.ts';
import type { ModelRequest, ModelUsage } from '#shared/ports/ports.ts';

/* Calls of a cheap model beside an answer: for a title, for the choice of a model, to condense an output. */

interface Listening {
  conversationId: string;
  request: ModelRequest;
  maximumCharacters: number;
  signal: AbortSignal;
}

/** What the model said, without its thoughts. */
interface Said {
  text: string;
  usage?: ModelUsage | undefined;
  finishReason?: string | undefined;
}

/** The answer to a side call, and what it cost. */
interface AuxiliaryAnswer extends Said {
  /** Millionths of a US dollar; absent where the model reported no figures. */
  costMicros: number | undefined;
  /** Never rejects. The request that is served waits for it; who is waited for by that must wait here. */
  settled: Promise<void>;
}

type AuxiliaryCall = WorkCall & Listening;

/**
 * The whole answer to one call, out of what somebody holds for it; of one that does not end, a little more than
 * `maximumCharacters` (UTF-16 units). Throws what the model throws, and what `signal` was aborted with.
 */
export async function listenTo(
  dependencies: Pick<ChatDependencies, 'model' | 'clock' | 'logger'>,
  call: Listening,
): Promise<Said> {
  const { request, maximumCharacters, signal } = call;
  const answer: Said = { text: '' };
  const startMs = dependencies.clock.now().getTime();
  let failure: unknown;
  try {
    for await (const sent of untilAborted(dependencies.model.stream(request, signal), signal)) {
      const chunk = boundedAnswer(sent);
      for (const { text = '', thought } of chunk.parts) if (thought !== true) answer.text += text;
      answer.usage = chunk.usage ?? answer.usage;
      answer.finishReason = chunk.blockReason ?? chunk.finishReason ?? answer.finishReason;
      if (answer.text.length > maximumCharacters) break;
    }
    return answer;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    logModelCall(dependencies, { ...call, ...answer, startMs, error: failure });
  }
}

/**
 * The same, paid for out of its user's dollars, and settled behind the answer. Throws what `paidCall` and `listenTo`
 * throw.
 */
export async function callAuxiliaryModel(
  dependencies: ChatDependencies,
  call: AuxiliaryCall,
): Promise<AuxiliaryAnswer> {
  const { answer, costMicros, settled } = await paidCall(dependencies, call, () =>
    listenTo(dependencies, call),
  );
  addAfterwork(dependencies, settled);
  return { ...answer, costMicros, settled };
}
