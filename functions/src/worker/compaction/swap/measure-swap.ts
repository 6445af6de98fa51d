import { selectOutputForms } from '#functions/context/next-call.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import { unchanged } from '#functions/worker/compaction/attempt-outcome.ts';
import type { Verified, Candidate } from '#functions/worker/compaction/draft/candidate.ts';
import {
  condenseOutputs,
  type CondensingReport,
} from '#functions/worker/compaction/draft/condense-outputs.ts';
import type {
  Draft,
  CheckedSnapshot,
} from '#functions/worker/compaction/draft/snapshot-strategy.ts';
import { type ClaimedRun, runContext } from '#functions/worker/compaction/run.ts';
import { estimateContextTokens, tokenCounting } from '#shared/compaction/context-tokens.ts';
import type { OutcomeState } from '#shared/compaction/outcome.ts';
import type { FoldPlan, Plan } from '#shared/compaction/plan.ts';
import { sentOutputs } from '#shared/compaction/sent-outputs.ts';
import { frameSnapshot } from '#shared/compaction/snapshot-sections.ts';
import { decideSwap, isSoundCount } from '#shared/compaction/swap-decision.ts';
import { storedMasks, type PlannedMask } from '#shared/compaction/tool-output-budget.ts';
import {
  assembleContext,
  assemblePrompt,
  type ContextSource,
} from '#shared/conversation/context/assemble-context.ts';
import { countedContext } from '#shared/conversation/context/meter.ts';
import { keptPins, type KeptPins, pinBudget, PINS_MAX } from '#shared/conversation/context/pins.ts';
import { contentText, type Content } from '#shared/conversation/documents/content.ts';
import type { Prompt } from '#shared/ports/ports.ts';
import { estimateContentTokens, estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { saveBlobs } from './save-blobs.ts';

const refused = (
  { reading }: ClaimedRun,
  { state, reason }: { state: OutcomeState; reason: string },
): Verified => ({ kind: 'outcome', outcome: unchanged(reading.tokens, { state, reason }) });

/**
 * Checks a draft by code, counts the context with and without it, and decides. Throws StoppedError and
 * what the store and the model throw; a snapshot that is not good enough is an outcome.
 */
export async function measureDraft(
  run: ClaimedRun,
  plan: FoldPlan,
  draft: Draft,
): Promise<Verified> {
  const checked = await draft.check();
  switch (checked.kind) {
    case 'empty':
      return refused(run, { state: 'FAILED_EMPTY_SUMMARY', reason: 'EMPTY' });
    case 'refused':
      return refused(run, { state: 'FAILED_VERIFICATION', reason: checked.reason });
    case 'checked':
      return measureSwap(run, plan, checked);
  }
}

const nothingTruncated = ({ refusal, reading }: ClaimedRun): Verified => ({
  kind: 'outcome',
  outcome: unchanged(reading.tokens, { state: 'NOOP', reason: refusal ?? 'BREAKER_OPEN' }),
});

/** The generation that only shortens tool outputs: no model, the same snapshot, the same turns. */
export async function measureTruncation(
  run: ClaimedRun,
  plan: Extract<Plan, { kind: 'truncate' }>,
): Promise<Verified> {
  const { reading } = run;
  const { history } = reading;
  // Shortened outputs do not make up for turns that stand verbatim again.
  if (reading.isReadAgain) return nothingTruncated(run);
  const masks = await saveBlobs(run, plan.masks);
  const before = runContext(run);
  const after = {
    ...before,
    memory: reading.memory.after,
    history: { snapshotText: history?.snapshotText ?? '', masks: storedMasks(masks) },
  };
  const { calibration } = reading.conversation.value.context;
  const afterTokens = estimateContextTokens(after, { policy: reading.policy, calibration });
  if (afterTokens >= plan.beforeTokens) return nothingTruncated(run);
  const candidate: Candidate = {
    state: 'CONTENT_TRUNCATED',
    coveredThrough: reading.coveredThrough,
    from: 0,
    turnsFolded: 0,
    boundary: history?.boundary ?? '',
    snapshotText: history?.snapshotText ?? '',
    snapshot: history?.snapshot ?? null,
    strategy: 'copy',
    snapshotTokens: history?.snapshotTokens ?? 0,
    masks,
    beforeTokens: plan.beforeTokens,
    afterTokens,
    counted: countedAfter(run, after, 'estimated'),
    model: '',
    promptVersion: '',
    sourceHash: history?.sourceHash ?? '',
    report: history?.report ?? {},
    after,
  };
  return { kind: 'candidate', candidate };
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

/** What the count of `after` is about, which goes as far as what was read. */
const countedAfter = (
  { dependencies, reading }: ClaimedRun,
  after: ContextSource,
  source: TokenCounts['source'],
): Candidate['counted'] =>
  countedContext(after, selectOutputForms(dependencies, reading.conversation.value), {
    source,
    seq: reading.turns.at(-1)?.seq ?? reading.coveredThrough.seq,
  });

interface Measured {
  run: ClaimedRun;
  plan: FoldPlan;
  checked: CheckedSnapshot;
  boundary: string;
  masks: PlannedMask[];
  condensing: CondensingReport | undefined;
  kept: KeptPins;
  after: ContextSource;
  counts: TokenCounts;
  /** By the same counter as `counts`, or as the meter had it. */
  beforeTokens: number;
}

function candidateOf(measured: Measured): Candidate {
  const { run, plan, checked, kept, after, counts, beforeTokens } = measured;
  return {
    state: 'COMPACTED',
    coveredThrough: after.coveredThrough,
    from: plan.from,
    turnsFolded: plan.folded.length,
    ...(plan.isPartial && { isPartial: true }),
    boundary: measured.boundary,
    snapshotText: after.history?.snapshotText ?? '',
    strategy: checked.strategy,
    snapshot: checked.snapshot,
    snapshotTokens: memoryTokens(run, after),
    masks: measured.masks,
    beforeTokens,
    afterTokens: counts.afterTokens ?? beforeTokens,
    counted: countedAfter(run, after, counts.source),
    model: checked.model,
    promptVersion: checked.promptVersion,
    sourceHash: run.dependencies.sha256(JSON.stringify(plan.contents)),
    report: {
      ...checked.report,
      tokensSource: counts.source,
      ...(plan.repairs && { repairs: plan.repairs }),
      ...(measured.condensing && { condensing: measured.condensing }),
      ...(kept.leftOut.length > 0 && { keptOver: kept.leftOut.slice(-PINS_MAX) }),
    },
    after,
    keptPins: kept.added,
  };
}

/**
 * Counts the context as it is and as a checked snapshot would make it, decides by `decideSwap` whether
 * the one replaces the other, and builds the candidate. Stores the full text of the tool outputs that
 * the new context shortens (blobs are named by content: a second time changes nothing). Throws
 * StoppedError and what the store throws; a context that does not shrink enough is an outcome.
 */
async function measureSwap(
  run: ClaimedRun,
  plan: FoldPlan,
  checked: CheckedSnapshot,
): Promise<Verified> {
  const { reading, dependencies } = run;
  const boundary = dependencies.randomness.uuid();
  const snapshotText = frameSnapshot({ body: checked.body, boundary });
  const saved = await saveBlobs(run, plan.masks);
  const { masks, report: condensing } = await condenseOutputs(run, saved);
  const before = runContext(run);
  const kept = pinsAfterFold(run, plan);
  const after: ContextSource = {
    ...before,
    memory: reading.memory.after,
    pins: kept.pins,
    history: { snapshotText, masks: storedMasks(masks) },
    coveredThrough: plan.coveredThrough,
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
  const figures = { counts, beforeTokens };
  const measured = { run, plan, checked, boundary, masks, condensing, kept, after, ...figures };
  if (decision.swap) return { kind: 'candidate', candidate: candidateOf(measured) };
  const { state, reason } = decision;
  const afterTokens = counts.afterTokens ?? beforeTokens;
  return { kind: 'outcome', outcome: unchanged(beforeTokens, { state, reason, afterTokens }) };
}

/** How long the token counter may take. */
const COUNT_TIMEOUT_MS = 10_000;

interface TokenCounts {
  /** null = not countable. */
  beforeTokens: number | null;
  afterTokens: number | null;
  source: 'counted' | 'estimated';
}

async function countBoth(
  run: ClaimedRun,
  prompts: { before: Prompt; after: Prompt },
): Promise<TokenCounts | undefined> {
  const { model, clock, logger } = run.dependencies;
  try {
    const [beforeTokens, afterTokens] = await withDeadline(
      { clock, ms: COUNT_TIMEOUT_MS, signal: run.signal },
      (signal) =>
        Promise.all([
          model.countTokens(prompts.before, signal),
          model.countTokens(prompts.after, signal),
        ]),
    );
    return isSoundCount(beforeTokens) && isSoundCount(afterTokens)
      ? { beforeTokens, afterTokens, source: 'counted' }
      : undefined;
  } catch (error) {
    if (run.signal.aborted) throw error;
    logger.log('WARNING', 'compaction_tokens_not_counted', {
      conversationId: run.reading.conversationId,
      reason: failureReason(error),
    });
    return undefined;
  }
}

/**
 * Tokens of both prompts by the same counter: the model's, or, when it fails for either, the calibrated
 * estimate for both. Throws only when the run was stopped.
 */
async function countTokens(
  run: ClaimedRun,
  prompts: { before: Prompt; after: Prompt },
): Promise<TokenCounts> {
  const counted = await countBoth(run, prompts);
  if (counted) return counted;
  const { conversation, policy } = run.reading;
  const estimate = (prompt: Prompt) => {
    const tokens = Math.ceil(
      conversation.value.context.calibration *
        estimatePromptTokens(prompt, tokenCounting(policy, conversation.value.model)),
    );
    return isSoundCount(tokens) ? tokens : null;
  };
  return {
    beforeTokens: estimate(prompts.before),
    afterTokens: estimate(prompts.after),
    source: 'estimated',
  };
}
