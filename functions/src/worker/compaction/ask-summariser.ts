import { modelThatLimits } from '#functions/config/conversation-policy.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { generateLogged } from '#functions/models/log-model-call.ts';
import { callCostMicros } from '#functions/models/models-in-use.ts';
import { paidCall } from '#functions/quota/paid-call.ts';
import { AppError } from '#shared/lib/errors.ts';
import { reportedCall } from '#shared/models/find-price.ts';
import type { ModelRequest, ModelResponse, ModelUsage } from '#shared/ports/ports.ts';
import { summariserOfRun, type ClaimedRun, type Run } from './run.ts';
import type { Summariser, SummaryRequest } from '#shared/compaction/summariser.ts';

/**
 * The run's summariser, whose calls enter its bill, failed ones too. A model that does not exist is replaced by the next one
 * that does. `generate` throws USER_DAILY_USD and GLOBAL_BUDGET before a model is asked, and what the model throws.
 */
export function runSummariser(run: ClaimedRun): Summariser {
  const { dependencies, reading, signal } = run;
  const { model, windowTokens } = summariserOfRun(run);
  return {
    windowTokens,
    promptId: summariserPromptId(run),
    generate: (request) => generate(run, modelsFor(run, model), request),
    drawBoundary: () => dependencies.randomness.uuid(),
    onSchemaRefused() {
      const { conversationId } = reading;
      dependencies.logger.log('WARNING', 'summariser_without_schema', { conversationId });
    },
    signal,
  };
}

/** What the calls are named by; manual requests as Gemini CLI names them. */
function summariserPromptId({ request }: Run): string {
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

/** Asks the first model that there is: a model may be retired, or not offered where this is deployed. */
async function generate(
  run: ClaimedRun,
  models: string[],
  { promptVersion, ...request }: SummaryRequest,
): Promise<ModelResponse> {
  const { bill, dependencies } = run;
  const [model = '', ...others] = models;
  try {
    const answer = await callModel(run, { request: { ...request, model }, promptVersion });
    bill.model = model;
    return answer;
  } catch (error) {
    const isMissing = error instanceof AppError && error.reason === 'MODEL_UNKNOWN';
    if (!isMissing || others.length === 0) throw error;
    dependencies.logger.log('WARNING', 'summariser_missing', {
      conversationId: run.reading.conversationId,
      model,
    });
    return generate(run, others, { ...request, promptVersion });
  }
}

interface NamedRequest {
  request: ModelRequest;
  /** Of the words that ask, for the log. */
  promptVersion: string | undefined;
}

/** One call of a model, paid for out of the dollars of the conversation's owner, and added to the bill of the run. */
export async function callModel(run: ClaimedRun, named: NamedRequest): Promise<ModelResponse> {
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
  addToBill(run, named.request.model, answer.usage);
  return answer;
}

/** Adds to the bill what an answer took. An answer without figures leaves the cost unknown. */
function addToBill(
  { bill, dependencies }: ClaimedRun,
  model: string,
  usage: ModelUsage | undefined,
) {
  const promptTokens = usage?.promptTokens ?? 0;
  const outputTokens = (usage?.outputTokens ?? 0) + (usage?.thoughtsTokens ?? 0);
  bill.promptTokens += promptTokens;
  bill.outputTokens += outputTokens;
  const cost = usage && callCostMicros(dependencies.config, reportedCall(model, usage));
  bill.costMicros =
    cost === undefined || bill.costMicros === undefined ? undefined : bill.costMicros + cost;
}
