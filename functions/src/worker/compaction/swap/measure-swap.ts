import { keptPins, type KeptPins } from '#shared/conversation/pins/kept-pins.ts';
import { pinBudget, PINS_MAX } from '#shared/conversation/pins/pin-budget.ts';
import type { FoldPlan } from '#shared/compaction/split/plan.ts';
import { tokenCounting } from '#shared/compaction/split/context-tokens.ts';
import { sentOutputs } from '#shared/compaction/tool-outputs/sent-outputs.ts';
import { frameSnapshot } from '#shared/compaction/snapshot-sections.ts';
import { decideSwap } from '#shared/compaction/decisions/swap-decision.ts';
import { storedMasks, type PlannedMask } from '#shared/compaction/tool-outputs/tail-masks.ts';
import { estimateContentTokens, estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { countedContext } from '#shared/conversation/context/shown-tokens.ts';
import {
  assembleContext,
  assemblePrompt,
  type ContextSource,
} from '#shared/conversation/context/assemble-context.ts';
import type { Prompt } from '#shared/ports/ports.ts';
import { selectOutputForms } from '#functions/context/output-forms.ts';
import type { Candidate, Verified } from '../draft/candidate.ts';
import { condenseOutputs, type CondensingReport } from '../draft/condense-outputs.ts';
import { countTokens, type TokenCounts } from '../draft/count-tokens.ts';
import { unchanged } from '../outcome.ts';
import { runContext, type ClaimedRun } from '../run.ts';
import { saveBlobs } from './save-blobs.ts';
import type { CheckedSnapshot } from '../draft/snapshot-strategy.ts';
import { contentText, type Content } from '#shared/conversation/documents/content.ts';

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
export const countedAfter = (
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
export async function measureSwap(
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
    trigger: run.need.trigger,
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
