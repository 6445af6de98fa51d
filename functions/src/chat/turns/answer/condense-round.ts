import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { callAuxiliaryModel } from '#functions/chat/features/auxiliary-model-call.ts';
import { meterCounting } from '#functions/config/conversation-policy.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { deadlineReason } from '#functions/lib/failure-reason.ts';
import { answeringModel, modelWindowTokens } from '#functions/models/models-in-use.ts';
import {
  CONDENSING_SUFFIX,
  type CondensableOutput,
  checkCondensed,
  condensingContents,
  condensingInstruction,
  outputsToCondense,
  withCondensed,
} from '#shared/compaction/condense-output.ts';
import { toolOutputConstants } from '#shared/conversation/context/tool-output-constants.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import { nextStep } from '#shared/conversation/documents/turn.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import type { BegunTurn } from '../start/begun-turn.ts';
import { ROUNDS_MAX_BYTES } from '../tools/tool-response.ts';
import { contentsBytes } from '../contents-size.ts';
import { type Answering, type WithRounds, storeProgress } from './answer-round.ts';

/**
 * The newest round with what a cheap model made of its longest outputs beside them, stored before any prompt shows
 * it, so that every later prompt shows the same. At most three calls of at most 15 s, all at once; what is slow, fails
 * or does not stand up to the check leaves its output to be cut. The same progress where nothing was condensed.
 * Throws what storing throws.
 */
export async function condenseRound(
  dependencies: ChatDependencies,
  answering: Answering,
  progress: WithRounds,
): Promise<WithRounds> {
  const targets = targetsOf(dependencies, answering.begun, progress);
  if (targets.length === 0) return progress;
  const texts = await condensedTexts(dependencies, answering, targets);
  const contents = withCondensed(progress.contents, texts);
  const isStored = texts.size > 0 && !answering.signal.aborted;
  if (!isStored || contentsBytes(contents) > ROUNDS_MAX_BYTES) return progress;
  const condensed = { ...progress, contents, rounds: nextStep(progress.rounds) };
  await storeProgress(answering, condensed);
  return condensed;
}

/** The outputs of the newest round that are worth a call; none where the deployment does not want it. */
function targetsOf(
  { config, sha256 }: ChatDependencies,
  { context: { conversation } }: BegunTurn,
  { contents }: WithRounds,
): CondensableOutput[] {
  const isOn =
    config.CONDENSE_TOOL_OUTPUTS !== 'off' &&
    // What is condensed names the whole, and that program cuts, and nothing else.
    config.BUILT_IN_TOOLS.includes('read_blob') &&
    conversation.profile !== 'gemini-cli';
  if (!isOn) return [];
  return outputsToCondense(contents, {
    counting: meterCounting(conversation),
    windowTokens: modelWindowTokens(config, answeringModel(config, config.QUICK_MODEL)),
    blobName: sha256,
  });
}

/** What a model made of outputs of the newest round, by part. Says in the log what came of each. */
async function condensedTexts(
  dependencies: ChatDependencies,
  answering: Answering,
  targets: readonly CondensableOutput[],
): Promise<Map<number, string>> {
  const { conversationId, seq } = answering.begun.attempt;
  const answers = await Promise.all(
    targets.map(async (target, index) => ({
      target,
      answer: await condense(dependencies, answering, { target, index }),
    })),
  );
  const texts = new Map<number, string>();
  for (const { target, answer } of answers) {
    const fields = { conversationId, seq, textLength: target.text.length };
    if ('text' in answer) {
      texts.set(target.partIndex, answer.text);
      dependencies.logger.log('INFO', 'tool_output_condensed', fields);
    } else if (!answering.signal.aborted)
      dependencies.logger.log('WARNING', 'tool_output_not_condensed', {
        ...fields,
        reason: answer.reason,
      });
  }
  return texts;
}

/** One output condensed and checked, or why not. Never throws. */
async function condense(
  dependencies: ChatDependencies,
  { begun, signal }: Answering,
  { target, index }: { target: CondensableOutput; index: number },
): Promise<{ text: string } | { reason: string }> {
  const { clock, config, modelHealth } = dependencies;
  const { conversation } = begun.context;
  const limit = { clock, ms: toolOutputConstants.condensingTimeoutMs, signal };
  try {
    const answer = await withDeadline(limit, (within) =>
      askToCondense(dependencies, begun, { target, index, signal: within }),
    );
    if (answer === undefined) return { reason: 'UNFINISHED' };
    return checkCondensed(target, answer, meterCounting(conversation));
  } catch (error) {
    if (!signal.aborted) modelHealth.failed(answeringModel(config, config.QUICK_MODEL), error);
    return { reason: deadlineReason(error) };
  }
}

/**
 * Asks the cheap model to condense one output of a turn, the `index`-th, and books what it took. Undefined where its
 * answer was cut, blocked or too long. Throws what the model throws.
 */
async function askToCondense(
  dependencies: ChatDependencies,
  { attempt, context }: BegunTurn,
  { target, index, signal }: { target: CondensableOutput; index: number; signal: AbortSignal },
): Promise<string | undefined> {
  const { config, modelHealth, randomness } = dependencies;
  const { conversationId, seq } = attempt;
  const { maximumCharacters, text } = target;
  const model = answeringModel(config, config.QUICK_MODEL);
  modelHealth.refusePaused(model);
  const request: ModelRequest = {
    model,
    systemInstruction: condensingInstruction,
    contents: condensingContents({ text, boundary: randomness.uuid(), maximumCharacters }),
    role: 'utility_compressor',
    promptId: `${turnId(seq)}${CONDENSING_SUFFIX}${index + 1}`,
  };
  const answer = await callAuxiliaryModel(dependencies, {
    work: 'condensing',
    conversationId,
    ownerUid: context.conversation.ownerUid,
    request,
    maximumCharacters,
    signal,
  });
  modelHealth.answered(model);
  return answer.finishReason === 'STOP' ? answer.text : undefined;
}
