import { selectOutputForms } from '#functions/context/next-call.ts';
import { passWorkerCrashPoint } from '#functions/lib/crash-points.ts';
import { withDeadline } from '#functions/lib/deadline.ts';
import { failureReason } from '#functions/lib/failure-reason.ts';
import { estimateContextTokens, tokenCounting } from '#shared/compaction/context-tokens.ts';
import type { FoldPlan, TruncatePlan } from '#shared/compaction/plan.ts';
import { sentOutputs } from '#shared/compaction/sent-view.ts';
import { frameSnapshot } from '#shared/compaction/snapshot-text.ts';
import { decideSwap, isSoundCount } from '#shared/compaction/swap-decision.ts';
import {
  type PlannedMask,
  storedMasks,
  type Offload,
} from '#shared/compaction/tool-output-budget.ts';
import {
  type ContextSource,
  assembleContext,
  assemblePrompt,
} from '#shared/conversation/context/assemble-context.ts';
import { countedContext } from '#shared/conversation/context/meter.ts';
import { keptPins, type KeptPins, pinBudget, PINS_MAX } from '#shared/conversation/context/pins.ts';
import { contentText, type Content } from '#shared/conversation/documents/content.ts';
import type { CoveredThrough, Pin } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { blobPiecePath } from '#shared/conversation/documents/paths.ts';
import type { Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { cutIntoPieces } from '#shared/conversation/documents/turn.ts';
import type { Prompt, Write } from '#shared/ports/ports.ts';
import { estimateContentTokens, estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { StoppedError } from './job-lease.ts';
import { AttemptEnded, runContext, unchanged, type ClaimedRun } from './run.ts';

/** A snapshot that code has checked. */
interface CheckedSnapshot {
  kind: 'checked';
  strategy: Exclude<History['strategy'], 'copy'>;
  snapshot: Snapshot;
  /** As it stands in the context between its boundary lines: one `<state_snapshot>`. */
  body: string;
  /** What the check found; every list is bounded. */
  report: Record<string, unknown>;
  /** The model that wrote it; '' where code did. */
  model: string;
  promptVersion: string;
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

/** The next generation as it would be: everything decided, nothing written but its blobs. */
export interface Candidate {
  state: 'COMPACTED' | 'CONTENT_TRUNCATED';
  coveredThrough: CoveredThrough;
  /** First turn of the range; 0 when none was folded. */
  from: number;
  turnsFolded: number;
  isPartial?: boolean;
  boundary: string;
  strategy: History['strategy'];
  snapshotText: string;
  snapshot: Snapshot | null;
  /** Estimated tokens of snapshot and acknowledgement, before calibration. */
  snapshotTokens: number;
  masks: PlannedMask[];
  beforeTokens: number;
  afterTokens: number;
  /** Who counted both, and what `afterTokens` is about. */
  counted: NonNullable<History['counted']>;
  /** '' when no model was asked. */
  model: string;
  promptVersion: string;
  sourceHash: string;
  report: Record<string, unknown>;
  /** The context that it makes. */
  after: ContextSource;
  /** Folded messages that stay word for word: pins that the swap adds to those of the conversation document. */
  keptPins?: readonly Pin[];
}

/**
 * The next generation with a snapshot that was drafted. Throws AttemptEnded for one that is not good enough,
 * StoppedError, and what the store and the model throw.
 */
export async function measureDraft(
  run: ClaimedRun,
  plan: FoldPlan,
  checked: Checked,
): Promise<Candidate> {
  const { tokens } = run.reading;
  switch (checked.kind) {
    case 'empty':
      throw new AttemptEnded(unchanged(tokens, { state: 'FAILED_EMPTY_SUMMARY', reason: 'EMPTY' }));
    case 'refused':
      throw new AttemptEnded(
        unchanged(tokens, { state: 'FAILED_VERIFICATION', reason: checked.reason }),
      );
    case 'checked':
      return measureSwap(run, plan, checked);
  }
}

const nothingTruncated = ({ refusal, reading }: ClaimedRun) =>
  new AttemptEnded(unchanged(reading.tokens, { state: 'NOOP', reason: refusal ?? 'BREAKER_OPEN' }));

/**
 * The generation that only shortens tool outputs: no model, the same snapshot, the same turns. Throws AttemptEnded where
 * that shortens nothing.
 */
export async function measureTruncation(run: ClaimedRun, plan: TruncatePlan): Promise<Candidate> {
  const { reading } = run;
  const { history } = reading;
  // Shortened outputs do not make up for turns that stand verbatim again.
  if (reading.isReadAgain) throw nothingTruncated(run);
  const masks = await saveBlobs(run, plan.masks);
  const before = runContext(run);
  const after = {
    ...before,
    memory: reading.memory.after,
    history: { snapshotText: history?.snapshotText ?? '', masks: storedMasks(masks) },
  };
  const { calibration } = reading.conversation.value.context;
  const afterTokens = estimateContextTokens(after, { policy: reading.policy, calibration });
  if (afterTokens >= plan.beforeTokens) throw nothingTruncated(run);
  return {
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

/**
 * Counts the context as it is and as a checked snapshot would make it, decides by `decideSwap` whether
 * the one replaces the other, and builds the candidate. Stores the full text of the tool outputs that
 * the new context shortens (blobs are named by content: a second time changes nothing). Throws AttemptEnded
 * for a context that does not shrink enough, StoppedError and what the store throws.
 */
async function measureSwap(
  run: ClaimedRun,
  plan: FoldPlan,
  checked: CheckedSnapshot,
): Promise<Candidate> {
  const { reading, dependencies } = run;
  const boundary = dependencies.randomness.uuid();
  const snapshotText = frameSnapshot({ body: checked.body, boundary });
  const masks = await saveBlobs(run, plan.masks);
  const before = runContext(run);
  const { pins, added: addedPins, leftOut: pinsLeftOut } = pinsAfterFold(run, plan);
  const after: ContextSource = {
    ...before,
    memory: reading.memory.after,
    pins,
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
  const afterTokens = counts.afterTokens ?? beforeTokens;
  if (!decision.swap) {
    const { state, reason } = decision;
    throw new AttemptEnded(unchanged(beforeTokens, { state, reason, afterTokens }));
  }
  return {
    state: 'COMPACTED',
    coveredThrough: after.coveredThrough,
    from: plan.from,
    turnsFolded: plan.folded.length,
    ...(plan.isPartial && { isPartial: true }),
    boundary,
    snapshotText,
    strategy: checked.strategy,
    snapshot: checked.snapshot,
    snapshotTokens: memoryTokens(run, after),
    masks,
    beforeTokens,
    afterTokens,
    counted: countedAfter(run, after, counts.source),
    model: checked.model,
    promptVersion: checked.promptVersion,
    sourceHash: dependencies.sha256(JSON.stringify(plan.contents)),
    report: {
      ...checked.report,
      tokensSource: counts.source,
      ...(plan.repairs && { repairs: plan.repairs }),
      ...(pinsLeftOut.length > 0 && { keptOver: pinsLeftOut.slice(-PINS_MAX) }),
    },
    after,
    keptPins: addedPins,
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

/** Pieces of 700 KiB: four stay below the store's limit of a batch. */
const PIECES_PER_BATCH = 4;

const pieceWrites = (conversationId: string, offload: Offload): Write[] =>
  cutIntoPieces(offload.text).map((text, index) => ({
    op: 'create',
    path: blobPiecePath(conversationId, { sha256: offload.name, index }),
    fields: { text },
  }));

/** Writes what is not there yet: a blob is named by its content, so what is there is the same. */
async function saveBlob(run: ClaimedRun, offload: Offload): Promise<void> {
  const writes = pieceWrites(run.reading.conversationId, offload);
  for (let i = 0; i < writes.length; i += PIECES_PER_BATCH) {
    const batch = writes.slice(i, i + PIECES_PER_BATCH);
    await run.lease.commit(async () => {
      const found = await run.dependencies.store.get(batch.map(({ path }) => path));
      return batch.filter((_, index) => found[index] === undefined);
    });
  }
}

/**
 * Whether an erasure under way is about to delete a blob: a turn that stays has the same output as the one
 * that was erased, and what is found now may be gone before the swap names it. The conversation document of this run's
 * generation tells of every such erasure: a later one takes a generation before it deletes, and with it
 * this run's swap.
 */
const isBeingErased = ({ reading }: ClaimedRun, { name }: Offload) =>
  reading.conversation.value.pendingErasure?.blobs?.includes(name) === true;

/**
 * Stores the full texts behind `masks` and returns the masks whose text is safe. A text that cannot be
 * stored costs its mask, never itself: that output stays whole. Throws StoppedError.
 */
async function saveBlobs(run: ClaimedRun, masks: readonly PlannedMask[]): Promise<PlannedMask[]> {
  const safe: PlannedMask[] = [];
  for (const mask of masks) {
    const { offload } = mask;
    // One word names no blob.
    if (offload && isBeingErased(run, offload)) continue;
    try {
      if (offload) await saveBlob(run, offload);
      safe.push(mask);
    } catch (error) {
      if (error instanceof StoppedError || run.signal.aborted) throw error;
      run.dependencies.logger.log('WARNING', 'compaction_blob_not_saved', {
        conversationId: run.reading.conversationId,
        seq: mask.seq,
        textLength: offload?.text.length,
        reason: failureReason(error),
      });
    }
  }
  if (safe.length > 0) await passWorkerCrashPoint(run.dependencies, 'blobs-saved');
  return safe;
}
