import { contentText, type Content } from '../models/content.ts';
import { AppError } from '../lib/errors.ts';
import {
  choicesToLeaveOut,
  filesIn,
  mayBeForFile,
  withoutFiles,
} from '#shared/conversation/context/left-out-files.ts';
import type { ModelRequest, ModelResponse } from '#shared/ports/ports.ts';
import { summaryOutputTokens } from './summariser-input.ts';

/** What a summariser is asked; which model answers it, it says itself. */
export interface SummaryRequest extends Omit<ModelRequest, 'model'> {
  contents: Content[];
  /** Of the words that ask, for logs. */
  promptVersion: string;
}

/** Whoever writes the summaries of one compaction. */
export interface Summariser {
  windowTokens: number;
  /** What its calls are named by. */
  promptId: string;
  /** Asks once. Throws AppError, and whatever else ends the compaction. */
  generate(request: SummaryRequest): Promise<ModelResponse>;
  /** A fresh mark: nobody who wrote the history can know it. */
  drawBoundary(): string;
  /** Is told that the model takes no schema, and is asked for text. */
  onSchemaRefused?(): void;
  /** Fires when the compaction is not wanted any more. */
  signal: AbortSignal;
}

/** One answer of the summariser, its thoughts left out. */
type SummariserText = { kind: 'text'; text: string } | { kind: 'refused'; reason: string };

/** Asks again without files where a model may have refused a request for one of them. */
export async function askReadable<Request extends Pick<ModelRequest, 'contents'>>(
  request: Request,
  ask: (request: Request) => Promise<ModelResponse>,
): Promise<ModelResponse> {
  try {
    return await ask(request);
  } catch (error) {
    const [files] = choicesToLeaveOut(filesIn(request.contents));
    if (!(error instanceof AppError) || !mayBeForFile(error) || !files) throw error;
    const leftOut = new Set(files);
    const contents = request.contents.map((content) => withoutFiles(content, leftOut));
    return askReadable({ ...request, contents }, ask);
  }
}

/**
 * Asks the summariser. An answer that was cut or blocked half-way is refused: it is no memory, however much of it there
 * is. A request that may have been refused for a dead file is made once more without such files. Throws what
 * `summariser.generate` throws.
 */
export async function askSummariser(
  summariser: Summariser,
  call: Pick<
    SummaryRequest,
    'systemInstruction' | 'responseJsonSchema' | 'promptId' | 'promptVersion' | 'contents'
  >,
): Promise<SummariserText> {
  const request: SummaryRequest = {
    ...call,
    maxOutputTokens: summaryOutputTokens(summariser.windowTokens),
    role: 'utility_compressor',
  };
  const answer = await askReadable(request, (readable) => summariser.generate(readable));
  if (answer.blockReason !== undefined)
    return { kind: 'refused', reason: `SUMMARY_BLOCKED_${answer.blockReason}` };
  const finishReason = answer.finishReason ?? 'UNFINISHED';
  if (finishReason !== 'STOP') return { kind: 'refused', reason: `SUMMARY_${finishReason}` };
  return { kind: 'text', text: contentText({ role: 'model', parts: answer.parts }).trim() };
}
