import { hashFraction } from '#shared/compaction/policy/variants.ts';
import { probeText } from '#shared/compaction/probes/probe-prompt.ts';
import { probeQuestions, type ProbeQuestion } from '#shared/compaction/probes/probe-questions.ts';
import { scoreProbe } from '#shared/compaction/probes/score-probe.ts';
import type { Plan } from '#shared/compaction/split/plan.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { AppError } from '#shared/errors.ts';
import type { ModelRequest, ModelResponse } from '#shared/ports/ports.ts';
import { CrashedError, passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { generateLogged } from '#functions/models/generate-logged.ts';
import { paidCall } from '#functions/quota/paid-call.ts';
import { StoppedError, type Outcome } from './outcome.ts';
import type { ClaimedRun } from './run.ts';
import { sentPrompt } from './swap/measure-swap.ts';

/** A probe that takes longer is given up, ms. */
const PROBE_TIMEOUT_MS = 20_000;

/** Larger contexts are not asked about: a probe costs as much as a short message in its conversation, and no more. */
const PROBE_CONTEXT_TOKENS = 50_000;

/** Five short lines, and what the model thinks before. */
const PROBE_ANSWER_TOKENS = 4_096;

/** A swap, and what it is asked about. */
interface Probe {
  generation: number;
  request: ModelRequest;
  questions: readonly ProbeQuestion[];
}

/** What a run's swap is asked, where it is one of those that are; the same conversation and generation always is, or never. */
function probeOf(run: ClaimedRun, plan: Plan, outcome: Outcome): Probe | undefined {
  const { dependencies, reading, isModelAllowed, need } = run;
  const { state, generation, after, afterTokens } = outcome;
  if (plan.kind !== 'fold' || state !== 'COMPACTED' || generation === undefined || !after) return;
  const isSampled =
    hashFraction(`${reading.conversationId} ${generation}`) < dependencies.config.PROBE_SHARE;
  if (!isSampled || !isModelAllowed || afterTokens > PROBE_CONTEXT_TOKENS) return;
  const questions = probeQuestions(plan.folded);
  if (questions.length === 0) return;
  const request: ModelRequest = {
    // As the next message is asked with, so that what is measured is what answers rest on.
    ...sentPrompt(run, after, { role: 'user', parts: [{ text: probeText(questions) }] }),
    toolChoice: 'none',
    maxOutputTokens: PROBE_ANSWER_TOKENS,
    role: 'utility_probe',
    promptId: `${need.requestId}-probe`,
  };
  return { generation, request, questions };
}

/** What was folded may have been edited or erased since: then nobody is asked about it. */
async function isStillThere({ dependencies, reading }: ClaimedRun, { generation }: Probe) {
  const now = await readConversation(dependencies.store, reading.conversationId);
  const { epoch } = reading.conversation.value;
  return (
    now?.value.state === 'live' &&
    now.value.epoch === epoch &&
    now.value.generation === generation &&
    now.value.pendingErasure === undefined
  );
}

/** An answer, and what it took. */
interface Asked {
  answer: ModelResponse;
  taken: object;
}

/** Asks for a bounded time, and pays out of the dollars of the conversation's owner as for the compaction. */
async function ask(run: ClaimedRun, { request }: Probe): Promise<Asked> {
  const { dependencies, reading, signal } = run;
  const { conversationId, conversation } = reading;
  const startMs = dependencies.clock.now().getTime();
  const { answer, costMicros, settled } = await paidCall(
    dependencies,
    {
      work: 'compactions',
      conversationId,
      ownerUid: conversation.value.ownerUid,
      request,
      isMore: true,
      pass: (point) => passWorkerCrashPoint(dependencies, point),
    },
    () =>
      withDeadline({ clock: dependencies.clock, ms: PROBE_TIMEOUT_MS, signal }, (within) =>
        generateLogged(dependencies, { request, conversationId, signal: within }),
      ),
  );
  await settled;
  const taken = {
    model: request.model,
    promptTokens: answer.usage?.promptTokens,
    outputTokens: answer.usage && answer.usage.outputTokens + answer.usage.thoughtsTokens,
    costMicros,
    durationMs: dependencies.clock.now().getTime() - startMs,
  };
  return { answer, taken };
}

/** Logs how many answers were right, or why nobody can tell. */
function logProbed(run: ClaimedRun, { generation, questions }: Probe, asked: Asked): void {
  const { logger } = run.dependencies;
  const { answer, taken } = asked;
  const told = { conversationId: run.reading.conversationId, generation };
  const { finishReason, blockReason } = answer;
  if (finishReason !== 'STOP') {
    const reason = `PROBE_${blockReason ?? finishReason ?? 'UNFINISHED'}`;
    logger.log('WARNING', 'compaction_probe_failed', { ...told, reason, ...taken });
    return;
  }
  const text = contentText({ role: 'model', parts: answer.parts });
  logger.log('INFO', 'compaction_probed', { ...told, ...scoreProbe(questions, text), ...taken });
}

function reasonOf(error: unknown): string {
  if (error instanceof AppError || error instanceof StoppedError) return error.reason;
  return error instanceof DOMException && error.name === 'TimeoutError' ? 'TIMEOUT' : 'INTERNAL';
}

/**
 * Asks the model of a sampled swap what stood in folded turns, by the new context alone, and logs how many answers were
 * right. The swap is done and settled: nothing depends on it, nothing of it is stored but what the call cost, and what
 * fails is logged. Throws what is thrown at a crash point alone.
 */
export async function probeSwap(run: ClaimedRun, plan: Plan, outcome: Outcome): Promise<void> {
  const { dependencies, reading, signal } = run;
  if (dependencies.config.PROBE_SHARE === 0 || signal.aborted) return;
  try {
    const probe = probeOf(run, plan, outcome);
    if (probe && (await isStillThere(run, probe))) logProbed(run, probe, await ask(run, probe));
  } catch (error) {
    if (error instanceof CrashedError) throw error;
    dependencies.logger.log('WARNING', 'compaction_probe_failed', {
      conversationId: reading.conversationId,
      generation: outcome.generation,
      reason: reasonOf(error),
    });
  }
}
