import { CrashedError } from '#functions/lib/crash-points.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { deadlineReason } from '#functions/lib/failure-reason.ts';
import { inParallel } from '#functions/lib/promises.ts';
import {
  checkCondensed,
  outputsToCondense,
  type CondensableOutput,
  type Condensed,
  condensingContents,
  CONDENSING_SUFFIX,
  condensingInstruction,
} from '#shared/compaction/condense-output.ts';
import { toolOutputConstants } from '#shared/compaction/constants.ts';
import { tokenCounting } from '#shared/compaction/context-tokens.ts';
import type { PlannedMask } from '#shared/compaction/tool-output-budget.ts';
import { AppError } from '#shared/errors.ts';
import { askSummariser, summariserPromptId } from './ask-summariser.ts';
import { summariserOfRun, type ClaimedRun } from './run.ts';

/** What came of it, for the report of the compaction. */
interface CondensingReport {
  asked: number;
  condensed: number;
  /** Why the others stayed cut, each once. */
  reasons: string[];
}

/** `isPassing`: a later compaction may succeed. */
type Answered = Condensed | { ok: false; reason: string; isPassing?: boolean };

async function askOnce(
  run: ClaimedRun,
  target: CondensableOutput,
  promptId: string,
): Promise<Answered> {
  const { clock, randomness } = run.dependencies;
  const { offload, maximumCharacters } = target;
  const answer = await withDeadline(
    { clock, ms: toolOutputConstants.condensingTimeoutMs.value, signal: run.signal },
    (signal) =>
      askSummariser(
        { ...run, signal },
        {
          systemInstruction: condensingInstruction,
          contents: condensingContents({
            text: offload.text,
            boundary: randomness.uuid(),
            maximumCharacters,
          }),
          promptId,
        },
      ),
  );
  if (answer.kind === 'refused') return { ok: false, reason: answer.reason };
  const { policy, conversation } = run.reading;
  return checkCondensed(target, answer.text, tokenCounting(policy, conversation.value.model));
}

function logAnswer(
  { dependencies, reading }: ClaimedRun,
  target: CondensableOutput,
  answered: Answered,
) {
  const fields = {
    conversationId: reading.conversationId,
    seq: target.mask.seq,
    textLength: target.offload.text.length,
  };
  if (answered.ok) {
    dependencies.logger.log('INFO', 'tool_output_condensed', fields);
    return;
  }
  const { reason } = answered;
  const severity = reason === 'INTERNAL' ? 'ERROR' : 'WARNING';
  dependencies.logger.log(severity, 'tool_output_not_condensed', { ...fields, reason });
}

/** One output condensed, or why not; only a stop of the run is thrown. */
async function condense(
  run: ClaimedRun,
  target: CondensableOutput,
  promptId: string,
): Promise<Answered> {
  let answered: Answered;
  try {
    answered = await askOnce(run, target, promptId);
  } catch (error) {
    if (run.signal.aborted || error instanceof CrashedError) throw error;
    const isPassing = error instanceof AppError && error.retryable;
    answered = { ok: false, reason: deadlineReason(error), isPassing };
  }
  logAnswer(run, target, answered);
  return answered;
}

/** The mask afterwards: what was tried in vain is not tried again. */
function maskAfter(mask: PlannedMask, answer: Answered | undefined): PlannedMask {
  if (answer?.ok) return answer.mask;
  return answer && 'isPassing' in answer && answer.isPassing === true
    ? mask
    : { ...mask, condensed: false };
}

const isOn = ({ dependencies, reading, refusal }: ClaimedRun): boolean =>
  refusal === undefined &&
  dependencies.config.CONDENSE_TOOL_OUTPUTS !== 'off' &&
  // That program cuts, and nothing else.
  reading.conversation.value.profile !== 'gemini-cli';

/**
 * The masks with very long tool outputs condensed by the summariser in the place of cut, where
 * CONDENSE_TOOL_OUTPUTS is on: at most three calls of at most 15 s, all at once. What is slow, fails or
 * does not stand up to the check leaves its mask as it was. `report` is absent where nobody was asked.
 * Throws only when the run was stopped.
 */
export async function condenseOutputs(
  run: ClaimedRun,
  masks: readonly PlannedMask[],
): Promise<{ masks: PlannedMask[]; report?: CondensingReport }> {
  if (!isOn(run)) return { masks: [...masks] };
  const { policy, conversation } = run.reading;
  const targets = outputsToCondense(masks, {
    counting: tokenCounting(policy, conversation.value.model),
    windowTokens: summariserOfRun(run).windowTokens,
  });
  if (targets.length === 0) return { masks: [...masks] };
  // All at once: there are no more than `condensedOutputLimit`.
  const answers = await inParallel(targets, targets.length, (target, index) =>
    condense(run, target, `${summariserPromptId(run)}${CONDENSING_SUFFIX}${index + 1}`),
  );
  const after = new Map(targets.map(({ mask }, index) => [mask, maskAfter(mask, answers[index])]));
  const failed = answers.filter((answer) => !answer.ok);
  return {
    masks: masks.map((mask) => after.get(mask) ?? mask),
    report: {
      asked: targets.length,
      condensed: answers.length - failed.length,
      reasons: [...new Set(failed.map(({ reason }) => reason))],
    },
  };
}
