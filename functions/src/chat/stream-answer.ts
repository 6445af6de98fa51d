import type { Part } from '../../../shared/conversation/content.ts';
import { AppError } from '../../../shared/errors.ts';
import type { ModelRequest, ModelUsage } from '../../../shared/ports.ts';
import { finishReasonOf } from '../../../shared/wire/stream.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import { createDeltaCoalescer } from './delta-coalescer.ts';
import type { LiveTurn } from './live-turn.ts';

/** What came of one model call. `parts` are raw: signatures and unknown fields must go back as sent. */
export interface Answer {
  parts: Part[];
  finishReason?: string;
  usage?: ModelUsage;
  /** The call ended in an error; what was received until then stands in `parts`. */
  error?: AppError;
}

/** The text part's id in the stream; one per answer. */
const TEXT_PART_ID = 'p0';

const isShown = (part: Part) =>
  part.text !== undefined && part.text !== '' && part.thought !== true;

/** Neighbouring plain text pieces are one part: a stream cuts text anywhere, the transcript does not. */
function appendPart(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  const isPlain = (candidate: Part | undefined) =>
    candidate?.text !== undefined && Object.keys(candidate).length === 1;
  if (last && isPlain(last) && isPlain(part)) last.text = `${last.text}${part.text}`;
  else parts.push({ ...part });
}

function textFrames(live: Pick<LiveTurn, 'emit'>, clock: ChatDependencies['clock']) {
  let isOpen = false;
  const deltas = createDeltaCoalescer({
    clock,
    emit: (delta) => live.emit({ type: 'text-delta', id: TEXT_PART_ID, delta }),
  });
  return {
    push: (text: string) => {
      if (!isOpen) live.emit({ type: 'text-start', id: TEXT_PART_ID });
      isOpen = true;
      deltas.push(text);
    },
    close: async () => {
      await deltas.flush();
      if (isOpen) live.emit({ type: 'text-end', id: TEXT_PART_ID });
    },
  };
}

const asAppError = (error: unknown) =>
  error instanceof AppError
    ? error
    : new AppError({
        status: 'INTERNAL',
        reason: 'INTERNAL',
        message: 'the answer could not be produced',
        publicMessage: 'The answer could not be produced.',
        cause: error,
      });

/** An answer without a word is no answer: storing it would poison the context (nothing to send back). */
function emptyAnswerError(answer: Answer): AppError | undefined {
  const isFiltered = finishReasonOf(answer.finishReason) === 'content-filter';
  const hasContent = answer.parts.some((part) => isShown(part) || part.functionCall !== undefined);
  if (answer.error || isFiltered || hasContent) return undefined;
  return new AppError({
    status: 'UNAVAILABLE',
    reason: 'MODEL_EMPTY_ANSWER',
    message: `the model answered nothing (finishReason ${answer.finishReason ?? 'missing'})`,
    publicMessage: 'The model gave no answer. Send the same message again.',
    retryable: true,
  });
}

/** Calls the model and passes its text on as it comes. Never throws: an error is part of the answer. */
export async function streamAnswer(
  dependencies: Pick<ChatDependencies, 'model' | 'clock'>,
  call: { request: ModelRequest; signal: AbortSignal; live: Pick<LiveTurn, 'emit'> },
): Promise<Answer> {
  const answer: Answer = { parts: [] };
  const text = textFrames(call.live, dependencies.clock);
  try {
    for await (const chunk of dependencies.model.stream(call.request, call.signal)) {
      for (const part of chunk.parts) {
        appendPart(answer.parts, part);
        if (isShown(part)) text.push(part.text ?? '');
      }
      answer.usage = chunk.usage ?? answer.usage;
      answer.finishReason = chunk.finishReason ?? answer.finishReason;
      if (chunk.blockReason !== undefined) answer.finishReason = 'BLOCKED_PROMPT';
    }
  } catch (error) {
    answer.error = asAppError(error);
  }
  await text.close();
  answer.error ??= emptyAnswerError(answer);
  return answer;
}
