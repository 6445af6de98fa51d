import { selectOutputForms } from '#functions/context/next-call.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import { tokenCounting } from '#shared/compaction/context-tokens.ts';
import type { FoldPlan } from '#shared/compaction/plan.ts';
import { sentOutputs } from '#shared/conversation/context/sent-view.ts';
import { frameSnapshot } from '#shared/compaction/snapshot-text.ts';
import { decideSwap, isSoundCount } from '#shared/compaction/swap-decision.ts';
import {
  type ContextSource,
  assembleContext,
  assemblePrompt,
} from '#shared/conversation/context/assemble-context.ts';
import { countedContext } from '#shared/conversation/context/meter.ts';
import { keptPins, type KeptPins, pinBudget, PINS_MAX } from '#shared/conversation/context/pins.ts';
import { contentText, type Content } from '#shared/models/content.ts';
import type { Pin } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Prompt } from '#shared/ports/ports.ts';
import { estimateContentTokens, estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { AttemptEnded, runContext, unchanged, type ClaimedRun } from './run.ts';

/** A snapshot that code has checked. */
interface CheckedSnapshot extends Pick<History, 'model' | 'promptVersion' | 'report'> {
  kind: 'checked';
  strategy: Exclude<History['strategy'], 'copy'>;
  snapshot: Snapshot;
  /** As it stands in the context between its boundary lines: one `<state_snapshot>`. */
  body: string;
}

/** What the check leads to; an answer that cannot be used is a result. */
export type Checked =
  | CheckedSnapshot
  /** Nothing was written. */
  | { kind: 'empty' }
  /** The answer was cut or blocked, cannot be read, or does not stand up to the check. */
  | { kind: 'refused'; reason: string };

/**
 * A way to write the snapshot of what a plan folds: asks the model, where it has one, and checks what it wrote by code.
 * Throws model errors as AppError, StoreUnavailableError.
 */
export type SnapshotStrategy = (run: ClaimedRun, plan: FoldPlan) => Promise<Checked>;

/** The next generation as it would be: everything decided, nothing written. */
export interface Candidate extends Pick<
  History,
  | 'coveredThrough'
  | 'from'
  | 'turnsFolded'
  | 'isPartial'
  | 'boundary'
  | 'strategy'
  | 'snapshotText'
  | 'snapshot'
  | 'snapshotTokens'
  | 'beforeTokens'
  | 'afterTokens'
  | 'model'
  | 'promptVersion'
  | 'report'
> {
  state: 'COMPACTED';
  counted: NonNullable<History['counted']>;
  /** The context that it makes. */
  after: ContextSource;
  /** Folded messages that stay word for word: pins that the swap adds to those of the conversation document. */
  keptPins: readonly Pin[];
}

/** The pins as a plan's swap leaves them: with the folded messages that are to stay word for word. */
function pinsAfterFold(
  { reading }: ClaimedRun,
  { folded, upTo, contentIndex }: FoldPlan,
): KeptPins {
  const { pins, context } = reading.conversation.value;
  // A turn that is folded inside keeps its user content in the context.
  const gone = contentIndex > 0 ? folded.filter(({ seq }) => seq !== upTo) : folded;
  return keptPins(pins, gone, pinBudget(reading.policy, context));
}

/** The tail, as the model goes on reading it. */
const keptContents = ({ tail }: FoldPlan): Content[] =>
  tail.filter(({ inContext }) => inContext).flatMap(({ user, contents }) => [user, ...contents]);

/** What stays in the context beside the snapshot, as texts: the pins and the words of the tail. */
export const keptTexts = (run: ClaimedRun, plan: FoldPlan): string[] => [
  ...pinsAfterFold(run, plan).pins.map(({ text }) => text),
  ...keptContents(plan).map(contentText),
];

/** Uncalibrated tokens of the memory that a snapshot makes: itself and the acknowledgement. */
function memoryTokens(run: ClaimedRun, context: ContextSource): number {
  const counting = tokenCounting(run.reading.policy, context.model);
  return assembleContext({ ...context, memory: undefined, pins: [], turns: [] }).reduce(
    (sum, { content }) => sum + estimateContentTokens(content, counting),
    0,
  );
}

/** The prompt that a context makes, with or without a message: tool outputs in the forms in which chat sends them. */
export const sentPrompt = (
  { dependencies, reading }: ClaimedRun,
  context: ContextSource,
  message?: Content,
): Prompt => {
  const forms = selectOutputForms(dependencies, reading.conversation.value);
  return assemblePrompt(context, sentOutputs(assembleContext(context), forms).items, message);
};

/** Calibrated estimate of the functions that the model is told of. */
const declarationTokens = (
  { reading: { conversation, policy } }: ClaimedRun,
  { model, tools }: Prompt,
) =>
  conversation.value.context.calibration *
  estimatePromptTokens({ tools, contents: [] }, tokenCounting(policy, model));

/**
 * The next generation with a snapshot that was drafted: counts the context as it is and as that would make it, and
 * decides by `decideSwap` whether the one replaces the other. Throws AttemptEnded for a snapshot that is not good
 * enough, StoppedError, and what the store throws.
 */
export async function measureDraft(
  run: ClaimedRun,
  plan: FoldPlan,
  checked: Checked,
): Promise<Candidate> {
  const { reading, dependencies } = run;
  if (checked.kind === 'empty') {
    const outcome = { state: 'FAILED_EMPTY_SUMMARY', reason: 'EMPTY' } as const;
    throw new AttemptEnded(unchanged(reading.tokens, outcome));
  }
  if (checked.kind === 'refused') {
    const outcome = { state: 'FAILED_VERIFICATION', reason: checked.reason } as const;
    throw new AttemptEnded(unchanged(reading.tokens, outcome));
  }
  const boundary = dependencies.randomness.uuid();
  const snapshotText = frameSnapshot({ body: checked.body, boundary });
  const before = runContext(run);
  const { pins, added, leftOut } = pinsAfterFold(run, plan);
  const { coveredThrough } = plan;
  const after: ContextSource = {
    ...before,
    memory: reading.memory.after,
    pins,
    history: { snapshotText },
    coveredThrough,
    turns: plan.kept,
  };
  const prompts = { before: sentPrompt(run, before), after: sentPrompt(run, after) };
  const counts = await countTokens(run, prompts);
  const decision = decideSwap({
    ...counts,
    overheadTokens: reading.conversation.value.context.overheadTokens,
    addedOverheadTokens:
      declarationTokens(run, prompts.after) - declarationTokens(run, prompts.before),
    policy: reading.policy,
    trigger: run.request.trigger,
    isPartial: plan.isPartial,
  });
  const beforeTokens = counts.beforeTokens ?? reading.tokens;
  const afterTokens = counts.afterTokens ?? beforeTokens;
  if (!decision.swap) {
    const { state, reason } = decision;
    throw new AttemptEnded(unchanged(beforeTokens, { state, reason, afterTokens }));
  }
  const { strategy, snapshot, model, promptVersion } = checked;
  const forms = selectOutputForms(dependencies, reading.conversation.value);
  return {
    state: 'COMPACTED',
    coveredThrough,
    from: plan.from,
    turnsFolded: plan.folded.length,
    ...(plan.isPartial && { isPartial: true }),
    boundary,
    snapshotText,
    strategy,
    snapshot,
    snapshotTokens: memoryTokens(run, after),
    beforeTokens,
    afterTokens,
    // It goes as far as what was read.
    counted: countedContext(after, forms, {
      source: counts.source,
      seq: reading.turns.at(-1)?.seq ?? reading.coveredThrough.seq,
    }),
    model,
    promptVersion,
    report: {
      ...checked.report,
      tokensSource: counts.source,
      ...(plan.repairs && { repairs: plan.repairs }),
      ...(leftOut.length > 0 && { keptOver: leftOut.slice(-PINS_MAX) }),
    },
    after,
    keptPins: added,
  };
}

/** How long the token counter may take. */
const COUNT_TIMEOUT_MS = 10_000;

interface TokenCounts {
  /** null = not countable. */
  beforeTokens: number | null;
  afterTokens: number | null;
  source: 'counted' | 'estimated';
}

/**
 * Tokens of both prompts by the same counter: the model's, or, when it fails for either, the calibrated
 * estimate for both. Throws only when the run was stopped.
 */
async function countTokens(
  run: ClaimedRun,
  prompts: { before: Prompt; after: Prompt },
): Promise<TokenCounts> {
  const { model, clock, logger } = run.dependencies;
  const { conversationId, conversation, policy } = run.reading;
  try {
    const [beforeTokens, afterTokens] = await withDeadline(
      { clock, ms: COUNT_TIMEOUT_MS, signal: run.signal },
      (signal) =>
        Promise.all([
          model.countTokens(prompts.before, signal),
          model.countTokens(prompts.after, signal),
        ]),
    );
    if (isSoundCount(beforeTokens) && isSoundCount(afterTokens))
      return { beforeTokens, afterTokens, source: 'counted' };
  } catch (error) {
    if (run.signal.aborted) throw error;
    logger.log('WARNING', 'compaction_tokens_not_counted', {
      conversationId,
      reason: failureReason(error),
    });
  }
  const counting = tokenCounting(policy, conversation.value.model);
  const estimate = (prompt: Prompt) => {
    const { calibration } = conversation.value.context;
    const tokens = Math.ceil(calibration * estimatePromptTokens(prompt, counting));
    return isSoundCount(tokens) ? tokens : null;
  };
  return {
    beforeTokens: estimate(prompts.before),
    afterTokens: estimate(prompts.after),
    source: 'estimated',
  };
}
