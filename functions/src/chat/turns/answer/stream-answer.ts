import { type Repairs, addRepairs } from '#shared/models/repairs.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { untilAborted } from '#functions/lib/async-iterators.ts';
import { timeoutAfter } from '#functions/lib/deadline.ts';
import { logModelCall } from '#functions/models/log-model-call.ts';
import { mayBeBilled } from '#functions/quota/paid-call.ts';
import { type Part, isPlainText, isSeen } from '#shared/models/content.ts';
import { boundedAnswer } from '#shared/conversation/repair/bounded-answer.ts';
import { repairPrompt } from '#shared/conversation/repair/repair-prompt.ts';
import { AppError } from '#shared/lib/errors.ts';
import { addReport } from '#shared/grounding/bounded-report.ts';
import type { GroundingReport } from '#shared/models/grounding.ts';
import { LOOP_OF_TEXT } from '#shared/conversation/call-loop.ts';
import { createRepetitionDetector } from '#shared/text/repetition-detector.ts';
import type { Logger, ModelChunk, ModelRequest, ModelUsage } from '#shared/ports/ports.ts';
import { cutHead } from '#shared/text/cut.ts';
import { BLOCKED_PROMPT, toFinishReason } from '#shared/models/finish-reason.ts';
import type { StreamChunk } from '#shared/wire/resources/streams.ts';
import { createTextFrames } from './text-frames.ts';

/** What came of one model call. `parts` are raw: signatures and unknown fields must go back as sent. */
export interface Answer {
  parts: Part[];
  finishReason?: string;
  usage?: ModelUsage;
  /** The call may be billed, and told no figures. */
  isUnreported?: boolean;
  /** What Google's tools found for it, bounded. */
  grounding?: GroundingReport;
  /** What was mended of the history that it was asked with. */
  repairs?: Repairs;
  /** The call ended in an error; what was received until then stands in `parts`. */
  error?: AppError;
}

/**
 * JSON of one answer, bytes of UTF-8: it is stored in one commit of 3.5 MiB, together with what of its
 * stream is not stored yet. Models end earlier (65,536 tokens are about 400 KB).
 */
export const ANSWER_MAX_BYTES = 2 * 1024 * 1024;

export const isShown = (part: Part) =>
  part.text !== undefined && part.text !== '' && part.thought !== true;

/** Neighbouring plain text pieces are one part: a stream cuts text anywhere, the transcript does not. */
function appendPart(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (isPlainText(last) && isPlainText(part)) last.text = `${last.text}${part.text}`;
  else parts.push({ ...part });
}

export interface AnswerCall {
  request: ModelRequest;
  /** Names what is answered, for the log. */
  name: string;
  /** Absent where the answer belongs to none. */
  conversationId?: string;
  /** How long the answer may take. */
  timeoutMs: number;
  /** Ends the call; what was received until then is the answer. */
  signal: AbortSignal;
  emit: (chunk: StreamChunk) => void;
  /** JSON bytes that the answer may have. */
  maxBytes: number;
  /** Id of the text part in the stream; one per answer. */
  partId: string;
  /** Whether an answer that broke off is left to another attempt: then its text part has no end. */
  isCut: () => boolean;
}

/** A defect is never the fault of the message, which may be sent again. */
const asAppError = (error: unknown) =>
  error instanceof AppError
    ? error
    : new AppError({
        reason: 'INTERNAL',
        message: 'the answer could not be produced',
        publicMessage: 'The answer could not be produced. Send the same message again.',
        retryable: true,
        cause: error,
      });

export const timeoutError = ({ name, timeoutMs }: Pick<AnswerCall, 'name' | 'timeoutMs'>) =>
  new AppError({
    reason: 'MODEL_TIMEOUT',
    message: `${name} had no complete answer after ${timeoutMs} ms`,
    publicMessage: 'The model did not finish in time. Send the same message again.',
  });

/** Whether a reader sees anything of an answer, or it goes on by calls. */
const hasContent = (parts: readonly Part[]): boolean =>
  isSeen(parts) || parts.some(({ functionCall }) => functionCall !== undefined);

/** An answer with nothing to see is a failure: storing it would poison the context (nothing to send back). */
export function emptyAnswerError(
  answer: Pick<Answer, 'parts' | 'error' | 'finishReason'>,
): AppError | undefined {
  const isFiltered = toFinishReason(answer.finishReason) === 'content-filter';
  if (answer.error || isFiltered || hasContent(answer.parts)) return undefined;
  return new AppError({
    reason: 'MODEL_EMPTY_ANSWER',
    message: `the model answered nothing (finishReason ${answer.finishReason ?? 'missing'})`,
    publicMessage: 'The model gave no answer. Send the same message again.',
  });
}

/** A picture alone may be larger than an answer can be. The same message would bring it again. */
const tooLargeError = ({ maxBytes }: AnswerCall) =>
  new AppError({
    reason: 'ANSWER_TOO_LARGE',
    publicMessage: `The answer is larger than the ${maxBytes} bytes that are left for it. Ask for less, such as a smaller picture, in a new message.`,
  });

/** Takes a chunk into the answer; what of it is shown, or 'full' when the answer may not grow by it. */
function takeChunk(
  answer: Answer,
  chunk: ModelChunk,
  sizes: { bytes: number; maxBytes: number },
): Part[] | 'full' {
  sizes.bytes += chunk.parts.reduce(
    (sum, part) => sum + Buffer.byteLength(JSON.stringify(part)),
    0,
  );
  if (sizes.bytes > sizes.maxBytes) {
    answer.finishReason = 'MAX_TOKENS';
    return 'full';
  }
  for (const part of chunk.parts) appendPart(answer.parts, part);
  answer.usage = chunk.usage ?? answer.usage;
  if (chunk.grounding) answer.grounding = addReport(answer.grounding, chunk.grounding);
  answer.finishReason = chunk.finishReason ?? answer.finishReason;
  if (chunk.blockReason !== undefined) answer.finishReason = BLOCKED_PROMPT;
  return chunk.parts.filter(isShown);
}

/**
 * Calls the model and passes its text on as it comes. Never throws: an error is part of the answer, that of
 * one that takes longer than `timeoutMs` is MODEL_TIMEOUT. An answer above `maxBytes` ends as MAX_TOKENS,
 * one that repeats itself over and over before the repetitions, as LOOP_OF_TEXT.
 */
export async function streamAnswer(
  dependencies: Pick<ChatDependencies, 'model' | 'clock' | 'config' | 'logger'>,
  call: AnswerCall,
): Promise<Answer> {
  const answer: Answer = { parts: [] };
  const sizes = { bytes: 0, maxBytes: call.maxBytes };
  const text = createTextFrames(call, dependencies.clock);
  const detector =
    dependencies.config.LOOP_DETECTION === 'on'
      ? createRepetitionDetector({ isJson: call.request.responseJsonSchema !== undefined })
      : undefined;
  const gate = createRepetitionFilter(detector);
  let isRepetition = false;
  const startMs = dependencies.clock.now().getTime();
  const timeout = timeoutAfter(dependencies, call.timeoutMs);
  const signal = AbortSignal.any([call.signal, timeout.signal]);
  try {
    const { request, repairs } = repairedRequest(dependencies, call.request);
    if (repairs) answer.repairs = repairs;
    for await (const sent of untilAborted(dependencies.model.stream(request, signal), signal)) {
      const shown = takeChunk(answer, boundedAnswer(sent), sizes);
      if (shown === 'full') {
        if (!hasContent(answer.parts)) answer.error = tooLargeError(call);
        break;
      }
      const passed = gate.pass(shown.map((part) => part.text ?? '').join(''));
      if (passed.shown !== '') text.push(passed.shown);
      if (!passed.isRepetition) continue;
      isRepetition = true;
      break;
    }
  } catch (error) {
    answer.error = asAppError(error);
  }
  if (isRepetition) {
    answer.parts = withoutEnd(answer.parts, gate.held().length);
    answer.finishReason = LOOP_OF_TEXT;
  } else if (gate.held() !== '') text.push(gate.held());
  await text.close({ isCut: answer.error !== undefined && call.isCut() });
  timeout.stop();
  const searches = answer.grounding?.queries.length ?? 0;
  if (answer.usage && searches > 0) answer.usage = { ...answer.usage, searches };
  answer.error ??= emptyAnswerError(answer);
  if (answer.error && timeout.signal.aborted) answer.error = timeoutError(call);
  const hasParts = answer.parts.length > 0;
  answer.isUnreported = answer.usage === undefined && (hasParts || mayBeBilled(answer.error));
  logModelCall(dependencies, { ...call, ...answer, startMs });
  return answer;
}

/**
 * The request as a model takes it, and what was wrong with its history, which is told in the log. Every call that
 * sends a conversation goes through it; a whole history is passed on as it is.
 */
function repairedRequest(
  { logger }: { logger: Pick<Logger, 'log'> },
  request: ModelRequest,
): { request: ModelRequest; repairs: Repairs | undefined } {
  const mended = repairPrompt(request);
  const { repairs: earlier, ...whole } = request;
  const repairs = addRepairs(earlier, mended.repairs);
  if (repairs) {
    const { promptId, role, model } = request;
    logger.log('WARNING', 'history_mended', { promptId, role, model, ...repairs });
  }
  return { request: { ...whole, contents: mended.contents }, repairs };
}

/**
 * Holds back what repeats itself until it is clear whether the model repeats itself, so that repetitions are neither shown
 * nor stored. What is held back is bounded by the window of the detector. Without a detector all of it is shown.
 */
function createRepetitionFilter(detector?: ReturnType<typeof createRepetitionDetector>) {
  let waiting = '';
  return {
    /** What of the text may be shown now; what repeats itself waits. `isRepetition`: nothing more will be shown. */
    pass(text: string): { shown: string; isRepetition: boolean } {
      const isRepetition = detector?.see(text) === true;
      waiting += text;
      const shown = cutHead(waiting, waiting.length - (detector?.heldCharacters() ?? 0));
      waiting = waiting.slice(shown.length);
      return { shown, isRepetition };
    },
    /** What still waits: to be shown at the end of an answer that is none, to be cut off one that is. */
    held: () => waiting,
  };
}

/**
 * An answer without the last `characters` UTF-16 units of what it shows, and without what stands between and
 * behind them: calls that came with a repetition are none.
 */
function withoutEnd(parts: readonly Part[], characters: number): Part[] {
  const kept = [...parts];
  for (let left = characters; left > 0;) {
    const last = kept.pop();
    if (last === undefined) break;
    const length = last.thought === true ? 0 : (last.text ?? '').length;
    if (length > left) kept.push({ ...last, text: last.text?.slice(0, length - left) ?? '' });
    left -= Math.min(left, length);
  }
  return kept;
}
