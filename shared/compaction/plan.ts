import type { OutputForms } from '../conversation/context/sent-view.ts';
import type { Repairs } from '../models/repairs.ts';
import type { ContextSource } from '#shared/conversation/context/assemble-context.ts';
import type { Content } from '#shared/models/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { estimateContextTokens, savesTooLittle, type SizedContext } from './context-tokens.ts';
import type { SummaryStrategy } from '#shared/conversation/documents/history.ts';
import { wholeOutputs } from '#shared/conversation/context/sent-view.ts';
import { foldedContentCount, slicedTurn } from './shown-turns.ts';
import { foldPoint, keptTurns } from './split.ts';
import { summariserInput, type Chunk, type SummariserInput } from './summariser-input.ts';

/** The turns of its context are terminal, in order, without a gap. */
export interface PlanSource extends SizedContext {
  summariserWindowTokens: number;
  /** In which the summariser reads tool outputs where they would fill its window; default: `forms`. */
  summariserForms?: OutputForms;
  /** Who writes the snapshot; the one call of `gemini-cli` may not get all that should be folded. */
  strategy: SummaryStrategy;
  /** False while the breaker is open, or where the conversation's allowance or the dollars of the day are used up. */
  isModelAllowed: boolean;
  /** Without a model: code alone writes a snapshot of a context of this many tokens or more. Absent: never. */
  foldFromTokens?: number | undefined;
}

/** Which turns go and what the summariser reads. */
export interface FoldPlan {
  kind: 'fold';
  /** First turn of the range; turns outside the context go silently. */
  from: number;
  /** Its end, as the next conversation document stores it. */
  coveredThrough: CoveredThrough;
  /** Not all that should be folded: the summariser could not have read more. */
  isPartial: boolean;
  /** The turns of the range that the context showed, with those contents that are folded now. */
  folded: Turn[];
  /** `folded`, cut and shortened as the calls are to read it; a turn may stand in several chunks. */
  chunks: Chunk[];
  /** The turns that stay, as they are stored. One that is folded in part is whole here. */
  storedTail: Turn[];
  /** The same turns without the contents that are folded. */
  tail: Turn[];
  /** What all chunks hold as one prompt, previous snapshot first; made when it is first read. */
  readonly contents: Content[];
  /** What was mended of the turns, where no model would have taken them as they were stored. */
  repairs?: Repairs | undefined;
}

interface NoopPlan {
  kind: 'noop';
  reason: 'NOTHING_TO_FOLD' | 'TURN_TOO_LARGE' | 'SAVES_TOO_LITTLE';
}

/** No model may be asked, and code alone can do nothing. */
interface NoModelPlan {
  kind: 'noop';
  reason: 'NO_MODEL';
}

/** No model: long tool outputs are sent shortened, as ever, and nothing else can be done. Estimated tokens. */
interface TruncatePlan {
  kind: 'truncate';
  beforeTokens: number;
  afterTokens: number;
}

type Plan = FoldPlan | TruncatePlan | NoopPlan | NoModelPlan;

/**
 * The outcome where nothing is folded. That there is something to fold and no way to do it is a failure: who waits for
 * room must learn why.
 */
export const stateOfNoFold = ({ reason }: NoopPlan | NoModelPlan) =>
  reason === 'TURN_TOO_LARGE' ? 'FAILED_ERROR' : 'NOOP';

/**
 * Decides what a compaction folds: up to where the policy splits, whole turns or the beginning of the
 * newest. The newest turn stays unless the context overflowed and nothing else relieves it. An automatic run that
 * cannot save enough is not begun. Empty context → nothing to fold. Where no model may be asked, turns are folded by
 * code alone, and only where the context has `foldFromTokens`.
 */
export function planCompaction(source: PlanSource): Plan {
  if (source.isModelAllowed) return planFold(source);
  const { context, calibration, forms, foldFromTokens = Infinity } = source;
  const afterTokens = estimateContextTokens(context, source);
  if (afterTokens >= foldFromTokens) {
    // Code reads everything at once, whatever the window of a model.
    const fold = planFold({ ...source, summariserWindowTokens: Number.MAX_SAFE_INTEGER });
    if (fold.kind === 'fold') return fold;
  }
  const whole = { calibration, forms: wholeOutputs(forms) };
  const beforeTokens = estimateContextTokens(context, whole);
  return afterTokens < beforeTokens
    ? { kind: 'truncate', beforeTokens, afterTokens }
    : { kind: 'noop', reason: 'NO_MODEL' };
}

/** Chooses the turns to fold and cuts them into chunks: for a model, or for code, whose window has no end. */
export function planFold(
  source: Omit<PlanSource, 'isModelAllowed' | 'foldFromTokens'>,
): FoldPlan | NoopPlan {
  const { context, calibration, forms } = source;
  const point = foldPoint(source);
  if (point === undefined) return { kind: 'noop', reason: 'NOTHING_TO_FOLD' };
  const input = summariserInput({
    context,
    point,
    forms: source.summariserForms ?? forms,
    calibration,
    windowTokens: source.summariserWindowTokens,
    strategy: source.strategy,
  });
  if (input === undefined) return { kind: 'noop', reason: 'TURN_TOO_LARGE' };
  const plan = foldPlanOf(context, input);
  const { storedTail: turns, coveredThrough } = plan;
  const after = { ...context, history: undefined, coveredThrough, turns };
  return !plan.isPartial && savesTooLittle(source, after)
    ? { kind: 'noop', reason: 'SAVES_TOO_LITTLE' }
    : plan;
}

function foldPlanOf(context: ContextSource, input: SummariserInput): FoldPlan {
  const { point: coveredThrough, isPartial, folded, chunks, repairs } = input;
  const storedTail = keptTurns(context.turns, coveredThrough);
  return {
    kind: 'fold',
    from: context.turns[0]?.seq ?? coveredThrough.seq,
    coveredThrough,
    isPartial,
    folded,
    chunks,
    storedTail,
    tail: storedTail.map((turn) =>
      slicedTurn(turn, { from: foldedContentCount(turn, coveredThrough) }),
    ),
    get contents() {
      return input.contents();
    },
    ...(repairs && { repairs }),
  };
}
