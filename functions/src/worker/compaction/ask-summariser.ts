import { modelThatLimits } from '#functions/config/conversation-policy.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { generateLogged } from '#functions/models/log-model-call.ts';
import { callCostMicros } from '#functions/models/models-in-use.ts';
import { paidCall } from '#functions/quota/paid-call.ts';
import { summaryOutputTokens } from '#shared/compaction/summariser-input.ts';
import {
  filesIn,
  mayBeForFile,
  choicesToLeaveOut,
  withoutFiles,
} from '#shared/conversation/context/left-out-files.ts';
import { contentText, type Content } from '#shared/models/content.ts';
import { AppError } from '#shared/lib/errors.ts';
import { reportedCall } from '#shared/models/find-price.ts';
import type { ModelRequest, ModelResponse, ModelUsage } from '#shared/ports/ports.ts';
import { summariserOfRun, type ClaimedRun, type Run } from './run.ts';

/** One answer of the summariser, its thoughts left out. */
type SummariserText =
  { kind: 'text'; text: string } | { kind: 'refused'; reason: string; text: string };

/** What the calls are named by; manual requests as Gemini CLI names them. */
export function summariserPromptId({ request }: Run): string {
  if (request.kind === 'auto' || request.requestId.startsWith('compress-'))
    return request.requestId;
  return `compress-${request.since.getTime()}`;
}

/** The models to ask, best first: the one that has answered this run before; at last the conversation's own. */
function modelsFor(run: ClaimedRun, preferred: string): string[] {
  const { config } = run.dependencies;
  const chatModel = modelThatLimits(config, run.reading.conversation.value.model);
  const all = [preferred, chatModel];
  return [...new Set(run.bill.model === undefined ? all : [run.bill.model, ...all])];
}

/** Enters in the bill what an answer took. One whose figures nobody knows leaves the cost unknown. */
function enter({ bill, dependencies }: ClaimedRun, model: string, usage: ModelUsage | undefined) {
  const promptTokens = usage?.promptTokens ?? 0;
  const outputTokens = (usage?.outputTokens ?? 0) + (usage?.thoughtsTokens ?? 0);
  bill.promptTokens += promptTokens;
  bill.outputTokens += outputTokens;
  const cost = usage && callCostMicros(dependencies.config, reportedCall(model, usage));
  bill.costMicros =
    cost === undefined || bill.costMicros === undefined ? undefined : bill.costMicros + cost;
}

interface NamedRequest {
  request: ModelRequest;
  /** Of the words that ask, for the log. */
  promptVersion: string | undefined;
}

/** One call, paid for out of the dollars of the conversation's owner, and entered in the bill of the run. */
export async function payFor(run: ClaimedRun, named: NamedRequest): Promise<ModelResponse> {
  const { bill, dependencies, reading, signal } = run;
  const { conversationId } = reading;
  const isMore = bill.isCounted === true;
  bill.isCounted = true;
  const { answer, settled } = await paidCall(
    dependencies,
    {
      work: 'compactions',
      conversationId,
      ownerUid: reading.conversation.value.ownerUid,
      request: named.request,
      isMore,
      pass: (point) => passWorkerCrashPoint(dependencies, point),
    },
    () => {
      bill.calls += 1;
      return generateLogged(dependencies, { ...named, conversationId, signal });
    },
  );
  await settled;
  await passWorkerCrashPoint(dependencies, 'call-settled');
  enter(run, named.request.model, answer.usage);
  return answer;
}

/** Asks the first model that there is: a model may be retired, or not offered where this is deployed. */
async function generate(
  run: ClaimedRun,
  models: string[],
  { promptVersion, ...request }: Omit<ModelRequest, 'model'> & { promptVersion?: string },
): Promise<ModelResponse> {
  const { bill, dependencies } = run;
  const [model = '', ...others] = models;
  try {
    const answer = await payFor(run, { request: { ...request, model }, promptVersion });
    bill.model = model;
    return answer;
  } catch (error) {
    const isMissing = error instanceof AppError && error.reason === 'MODEL_UNKNOWN';
    if (!isMissing || others.length === 0) throw error;
    dependencies.logger.log('WARNING', 'summariser_missing', {
      conversationId: run.reading.conversationId,
      model,
    });
    return generate(run, others, { ...request, ...(promptVersion && { promptVersion }) });
  }
}

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
 * Calls the run's summariser and enters it in the bill, failed calls too. An answer that was cut or
 * blocked half-way is refused: it is no memory, however much of it there is. A model that does not exist is
 * replaced by the next one that does. A request that may have been refused for a dead file is made once more without
 * such files. Throws USER_DAILY_USD and GLOBAL_BUDGET before a model is asked, and what the model throws.
 */
export async function askSummariser(
  run: ClaimedRun,
  call: Pick<ModelRequest, 'systemInstruction' | 'responseJsonSchema' | 'promptId'> & {
    contents: Content[];
    /** Of the words that ask, for the log. */
    promptVersion?: string;
  },
): Promise<SummariserText> {
  const { model, windowTokens } = summariserOfRun(run);
  const request = {
    ...call,
    maxOutputTokens: summaryOutputTokens(windowTokens),
    role: 'utility_compressor' as const,
  };
  const answer = await askReadable(request, (readable) =>
    generate(run, modelsFor(run, model), readable),
  );
  const text = contentText({ role: 'model', parts: answer.parts }).trim();
  if (answer.blockReason !== undefined)
    return { kind: 'refused', reason: `SUMMARY_BLOCKED_${answer.blockReason}`, text: '' };
  const finishReason = answer.finishReason ?? 'UNFINISHED';
  return finishReason === 'STOP'
    ? { kind: 'text', text }
    : { kind: 'refused', reason: `SUMMARY_${finishReason}`, text };
}
