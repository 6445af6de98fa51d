import { unlessAborted } from '#functions/lib/promises.ts';
import { wholeOutputs } from '#shared/conversation/context/sent-view.ts';
import { applyToolOutputBudget } from '#shared/conversation/context/tool-output-budget.ts';
import type { Content } from '#shared/models/content.ts';
import type { Repairs } from '#shared/models/repairs.ts';
import { tokenCounting, estimateContextTokens } from '#shared/compaction/context-tokens.ts';
import { checkAnswerText, strategies } from '#shared/compaction/draft-snapshot.ts';
import {
  decideNextContext,
  estimateCounts,
  nextContext,
  refusedOutcome,
} from '#shared/compaction/next-context.ts';
import type { OutcomeState } from '#shared/compaction/outcome.ts';
import { stateOfNoFold, planFold } from '#shared/compaction/plan.ts';
import { isOverThreshold } from '#shared/compaction/policy.ts';
import type { Summariser } from '#shared/compaction/summariser.ts';
import type { Draft, CompactionWork } from '#shared/compaction/work.ts';
import { nothingCovered } from '#shared/conversation/documents/conversation.ts';
import type { SummaryStrategy } from '#shared/conversation/documents/history.ts';
import type { Snapshot } from '#shared/conversation/documents/snapshot.ts';
import { estimatePromptTokens, estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import {
  drawMark,
  foldTail,
  matchesSnapshot,
  snapshotContents,
  readTail,
  readTurns,
  type CompactionSnapshot,
  type KeptTurn,
  type Tail,
  type ContentTime,
} from './contents-as-turns.ts';
import { checkedInput, choosePolicy, type CompactionSettings } from './settings.ts';
import { toSummaryModel, type CompactionModel } from './summary-models.ts';

/*
 * Compaction for who keeps the history elsewhere: what the worker does to a conversation, without its store, its lease and
 * its budget.
 */

/** A history, and how it is compacted. */
export interface HistoryInput {
  /**
   * The history as Gemini has it: as the last call returned it with what came since, or whole. System instruction and
   * tools are not among them.
   */
  contents: readonly Content[];
  /** What the last call returned; absent at first, and after a change of contents that it stands for. */
  snapshot?: CompactionSnapshot | undefined;
  policy?: CompactionSettings | undefined;
  /**
   * When each content was said, `index` counted in the whole history: statements then have days, and "tomorrow" means one.
   * Default: nobody knows.
   */
  timeOf?: ContentTime | undefined;
}

export interface CompactInput extends HistoryInput {
  /** Who is asked for the summary: `fromGemini(…)`, `fromAiSdk(…)` or a function. */
  model: CompactionModel;
  /** `auto` (default): from the threshold on, and where enough is saved; `manual`: now. */
  trigger?: 'auto' | 'manual' | undefined;
  /** What the user asked to keep in particular; 1,000 UTF-16 units. */
  focus?: string | undefined;
  /** What the app knows of the conversation, as data; it makes no rule. 16 of 4,000 UTF-16 units. */
  notes?: readonly string[] | undefined;
  /** Ends the call, which then throws the signal's reason. Nothing has changed. */
  signal?: AbortSignal | undefined;
}

/** What came of a call. */
export interface CompactionReport {
  /**
   * `COMPACTED`; `NOOP`: nothing was to be done; `FAILED_…`: the summary was not good enough. All but the first leave the
   * history as it was.
   */
  state: OutcomeState;
  /** Why, in upper case: `BELOW_THRESHOLD`, `NOTHING_TO_FOLD`, `SAVES_TOO_LITTLE`, `FOREIGN_ANSWER`, `SUMMARY_MAX_TOKENS`, … */
  reason?: string;
  /** Estimated tokens of the contents: as they were, and as they would be with the summary. */
  beforeTokens: number;
  afterTokens: number;
  /** Turns that the new snapshot stands for beside those that it stood for before. */
  turnsFolded: number;
  /** More should be folded: the summariser could not read all of it at once. */
  isPartial?: true;
  /** Who wrote the snapshot: `gemini-cli` also where the model took no schema. */
  strategy?: SummaryStrategy | 'fallback';
  /** What the check of a ledger found: values that nobody said, operations that were refused, and more. Plain JSON. */
  check?: object;
  /** What had to be mended before a model would take the contents, by kind. */
  repairs?: Repairs;
}

/** What the calls of the model took, as it reported; thoughts are output. */
export interface CompactionUsage {
  calls: number;
  promptTokens: number;
  outputTokens: number;
}

export interface CompactResult {
  /** To be kept for the next call; the one that was given where nothing was compacted. */
  snapshot: CompactionSnapshot | undefined;
  /** To be sent to the model: the snapshot, its acknowledgement, and what it does not stand for, word for word. */
  contents: readonly Content[];
  report: CompactionReport;
  usage: CompactionUsage;
}

/** A history that was read. */
interface Reading {
  work: CompactionWork;
  tail: Tail;
  turns: KeptTurn[];
  previous: CompactionSnapshot | undefined;
  strategy: keyof typeof strategies;
  /** What the model is sent now. */
  contents: readonly Content[];
  overheadTokens: number;
}

function readHistory(input: {
  contents: readonly Content[];
  snapshot?: CompactionSnapshot | undefined;
  policy: CompactionSettings;
  timeOf?: ContentTime | undefined;
  trigger?: CompactInput['trigger'];
}): Reading {
  const { contents, snapshot, trigger, timeOf = () => undefined } = input;
  const { overheadTokens = 0 } = input.policy;
  const { model, profile, strategy, policy } = choosePolicy(input.policy);
  const counting = { ...tokenCounting(policy, model), weighed: new Map() };
  const tail = readTail(contents, snapshot);
  const nextTurn = snapshot?.nextTurn ?? 1;
  const turns = readTurns(tail, { nextTurn, timeOf, counting });
  const work: CompactionWork = {
    context: {
      model,
      pins: [],
      history: snapshot && { snapshotText: snapshot.text },
      coveredThrough: { ...nothingCovered, seq: nextTurn - 1 },
      turns: turns.map(({ turn }) => turn),
    },
    policy,
    trigger,
    calibration: 1,
    // Neither stands in the contents.
    overheadTokens: 0,
    forms: wholeOutputs({ counting }),
    profile,
    previous: snapshot && { snapshot: snapshot.statements, snapshotTokens: snapshot.tokens },
    isSearched: false,
  };
  const isAsGiven = snapshot === undefined || tail.isRendered;
  const sent = isAsGiven ? contents : [...snapshotContents(snapshot), ...tail.contents];
  return { work, tail, turns, previous: snapshot, strategy, contents: sent, overheadTokens };
}

const planOf = ({ work, strategy }: Reading, windowTokens: number) =>
  planFold({
    ...work,
    strategy,
    summariserWindowTokens: windowTokens,
    summariserForms: { policy: work.policy, counting: work.forms.counting },
  });

function summariserFor(
  { contents, work }: Reading,
  {
    model,
    signal,
    usage,
  }: { model: ReturnType<typeof toSummaryModel>; signal: AbortSignal; usage: CompactionUsage },
): Summariser {
  let marks = 0;
  return {
    windowTokens: model.windowTokens ?? work.policy.windowTokens,
    promptId: 'compact',
    async generate(asked) {
      const { promptVersion: _, ...request } = asked;
      signal.throwIfAborted();
      usage.calls += 1;
      const answer = await unlessAborted(signal, () =>
        model.generate({ ...request, model: model.id }, signal),
      );
      usage.promptTokens += answer.usage?.promptTokens ?? 0;
      usage.outputTokens += (answer.usage?.outputTokens ?? 0) + (answer.usage?.thoughtsTokens ?? 0);
      return answer;
    },
    drawBoundary: () => drawMark(contents, (marks += 1)),
    signal,
  };
}

const neverAborted = new AbortController().signal;

/**
 * Compacts a history that is kept elsewhere: chooses up to where its oldest turns are replaced, asks `model` for a summary
 * of them, checks it by code against what was said, and returns the snapshot with the rest of the history. Loses nothing: a
 * summary that fails its checks is a result, whose `report` says so and whose history is the one that was given.
 *
 * Asks no model below the threshold, so it may be called before every message. Reads no clock and draws nothing: the same
 * input and the same answers give the same result. A summary that failed is asked for again by the next call; who calls for
 * every message may wait after a `FAILED_…`.
 *
 * Throws AppError `INVALID_ARGUMENT`, whose message names the field, and TypeError for what is no model; the reason of
 * `signal`; and what a model throws that cannot be asked, for `fromGemini` and `fromAiSdk` an AppError with `reason` and
 * `retryable`.
 */
export async function compact(input: CompactInput): Promise<CompactResult> {
  const { signal = neverAborted, timeOf } = input;
  const names = ['contents', 'snapshot', 'policy', 'trigger', 'focus', 'notes'] as const;
  const { focus, notes, ...given } = checkedInput(input, names);
  const model = toSummaryModel(input.model);
  signal.throwIfAborted();
  const reading = readHistory({ ...given, timeOf });
  const usage: CompactionUsage = { calls: 0, promptTokens: 0, outputTokens: 0 };
  const work = { ...reading.work, focus, notes };
  const beforeTokens = estimateContextTokens(work.context, work);
  const unchanged = (
    outcome: Pick<CompactionReport, 'state'> & Partial<CompactionReport>,
  ): CompactResult => ({
    snapshot: reading.previous,
    contents: reading.contents,
    report: { beforeTokens, afterTokens: beforeTokens, turnsFolded: 0, ...outcome },
    usage,
  });

  const { overheadTokens } = reading;
  const tokens = beforeTokens + overheadTokens;
  if (given.trigger === 'auto' && !isOverThreshold({ tokens, overheadTokens, policy: work.policy }))
    return unchanged({ state: 'NOOP', reason: 'BELOW_THRESHOLD' });
  const summariser = summariserFor(reading, { model, signal, usage });
  const plan = planOf(reading, summariser.windowTokens);
  if (plan.kind === 'noop') return unchanged({ state: stateOfNoFold(plan), reason: plan.reason });

  const draft = await strategies[reading.strategy](work, plan, summariser);
  signal.throwIfAborted();
  if (draft.kind !== 'snapshot') return unchanged(refusedOutcome(draft));
  const { body, snapshot: statements, strategy, report: check } = draft;
  const next = nextContext(work, plan, { body, boundary: summariser.drawBoundary() });
  const counts = estimateCounts(work, next.prompts);
  const decision = decideNextContext(work, plan, { prompts: next.prompts, counts });
  const figures = {
    beforeTokens: counts.beforeTokens ?? beforeTokens,
    afterTokens: counts.afterTokens ?? beforeTokens,
    strategy,
    check,
  };
  if (!decision.swap) {
    const { state, reason } = decision;
    return unchanged({ ...figures, state, reason });
  }
  const { tail, turns, previous } = reading;
  const { kept, place } = foldTail(tail, turns, { point: plan.coveredThrough, previous });
  const snapshot: CompactionSnapshot = {
    schemaVersion: 1,
    statements,
    text: next.snapshotText,
    tokens: next.snapshotTokens,
    ...place,
  };
  return {
    snapshot,
    contents: [...snapshotContents(snapshot), ...kept],
    report: {
      state: 'COMPACTED',
      ...figures,
      turnsFolded: plan.folded.length,
      ...(plan.isPartial && { isPartial: true }),
      ...(plan.repairs && { repairs: plan.repairs }),
    },
    usage,
  };
}

// The parts, which ask no model

/** What a compaction would do to a history. */
export interface Split {
  /** The contents that go into the summary. */
  folded: readonly Content[];
  /** Those that stay, the message of a turn whose answer is folded in part among them. */
  kept: readonly Content[];
  turnsFolded: number;
}

/**
 * Chooses what is folded and what stays: whole turns up to a change of topic, or the beginning of a very long one; a call
 * and its responses stay together. Undefined: nothing can be folded, or too little would be saved. `trigger`: as in
 * `compact`; default `manual`. Throws as `compact` for bad input.
 */
export function chooseSplit(
  input: HistoryInput & Pick<CompactInput, 'trigger'>,
): Split | undefined {
  const { trigger = 'manual', ...rest } = input;
  const names = ['contents', 'snapshot', 'policy', 'trigger'] as const;
  const given = checkedInput({ ...rest, trigger }, names);
  const reading = readHistory({ ...given, timeOf: input.timeOf });
  const plan = planOf(reading, reading.work.policy.windowTokens);
  if (plan.kind === 'noop') return undefined;
  const { tail, turns, previous } = reading;
  const { folded, kept } = foldTail(tail, turns, { point: plan.coveredThrough, previous });
  return { folded, kept, turnsFolded: plan.folded.length };
}

/**
 * Shortens tool outputs, the oldest first, until all of them cost `budgetTokens` (estimated): each keeps its beginning, its
 * end and its errors. The contents that have not changed are the same objects. Throws as `compact` for bad input.
 */
export function shortenToolOutputs(input: { contents: readonly Content[]; budgetTokens: number }): {
  contents: Content[];
  tokensBefore: number;
  tokensAfter: number;
} {
  const { contents, budgetTokens } = checkedInput(input, ['contents', 'budgetTokens']);
  return applyToolOutputBudget({ contents, budgetTokens, rule: 'character-class' });
}

/** What a summary comes to. */
export type VerifiedSummary =
  | { ok: true; statements: Snapshot; check: object }
  /** `EMPTY`, `FOREIGN_ANSWER`, `SUMMARY_UNREADABLE_…`. */
  | { ok: false; reason: string };

const verified = (draft: Draft): VerifiedSummary =>
  draft.kind === 'snapshot'
    ? { ok: true, statements: draft.snapshot, check: draft.report }
    : { ok: false, reason: refusedOutcome(draft).reason };

/**
 * Checks a summariser's answer (the JSON of `{operations, topics}` that its schema asks for) against the contents that it
 * is of, all of them folded: shape, sources, quotes, whose words, values. What nobody said is marked. Throws as `compact`
 * for bad input.
 */
export function verifySummary(input: HistoryInput & { answer: string }): VerifiedSummary {
  const { answer, ...given } = checkedInput(input, ['contents', 'snapshot', 'policy', 'answer']);
  const { work } = readHistory({ ...given, timeOf: input.timeOf });
  const { turns } = work.context;
  const coveredThrough = { seq: turns.at(-1)?.seq ?? 0, contentIndex: 0 };
  const all = { folded: [...turns], tail: [], coveredThrough };
  return verified(checkAnswerText(work, all, answer));
}

/**
 * The contents to send to a model: the snapshot, its acknowledgement, and what it does not stand for. A history that has
 * the snapshot already stays as it is. Throws as `compact` for bad input.
 */
export function renderSnapshot(input: {
  contents: readonly Content[];
  snapshot: CompactionSnapshot;
}): readonly Content[] {
  const { contents, snapshot } = checkedInput(input, ['contents', 'snapshot']);
  return readHistory({ contents, snapshot, policy: {} }).contents;
}

/**
 * Whether a snapshot is one of this history: false where a content that it stands for was changed or taken out, after which
 * `compact` is called without it. Throws as `compact` for bad input.
 */
export function matchesHistory(input: {
  contents: readonly Content[];
  snapshot: CompactionSnapshot;
}): boolean {
  const { contents, snapshot } = checkedInput(input, ['contents', 'snapshot']);
  return snapshot === undefined || matchesSnapshot(contents, snapshot);
}

/**
 * Tokens that a text, or contents, are likely to take, a whole number: within a fifth of what Gemini counts for nine of
 * ten prompts. `model`: whose prices media have. Throws as `compact` for bad input.
 */
export function estimateTokens(
  given: string | readonly Content[],
  options: { model?: string } = {},
): number {
  const { model, policy } = choosePolicy({ model: options.model });
  const counting = tokenCounting(policy, model);
  if (typeof given === 'string') return estimateTextTokens(given, counting);
  const { contents } = checkedInput({ contents: given }, ['contents']);
  return estimatePromptTokens({ contents }, counting);
}
