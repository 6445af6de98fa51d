import { refusedStates } from '#shared/compaction/outcome.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionRecord } from '#shared/conversation/documents/job.ts';
import type { Rating } from '#shared/conversation/documents/rating.ts';

/** How one attempt at a compaction ended, with what it is compared by. */
export interface ComparedOutcome {
  /** '' = the deployment's own settings. */
  variant: string;
  kind: 'compacted' | 'failed' | 'nothing';
  beforeTokens: number;
  afterTokens: number;
  costMicros: number | undefined;
  /** What the owner thinks of it, 1 to 5. */
  score?: number | undefined;
  /** The summary was refused by verification. */
  isRefused?: boolean;
}

/** Sums of one variant; a mean of nothing is undefined. */
export interface VariantFigures {
  variant: string;
  conversations: number;
  attempts: number;
  compacted: number;
  failed: number;
  nothing: number;
  meanBeforeTokens: number | undefined;
  meanAfterTokens: number | undefined;
  meanCostMicros: number | undefined;
  ratings: number;
  meanScore: number | undefined;
  /** Attempts whose summary was refused. */
  refused: number;
}

/** Below this a difference of two means says nothing; a rule of thumb, not a test. */
export const FEW_ATTEMPTS = 30;

const kindOf = (state: string): ComparedOutcome['kind'] => {
  if (state === 'COMPACTED' || state === 'CONTENT_TRUNCATED') return 'compacted';
  return state.startsWith('FAILED') ? 'failed' : 'nothing';
};

const isSwap = ({ state }: Pick<History, 'state'>) => kindOf(state) === 'compacted';

/**
 * The attempts of one conversation: all that swapped, and of the others those among the newest twenty, which
 * is what the job remembers.
 */
export function readOutcomes(input: {
  histories: readonly History[];
  records: readonly CompactionRecord[];
  ratings: readonly Rating[];
  /** Of attempts that do not say theirs. */
  variant: string;
}): ComparedOutcome[] {
  const scores = new Map(input.ratings.map(({ generation, score }) => [generation, score]));
  const swaps = input.histories.filter(isSwap);
  return [
    ...swaps.map((history): ComparedOutcome => ({
      variant: history.variant ?? input.variant,
      kind: 'compacted',
      beforeTokens: history.beforeTokens,
      afterTokens: history.afterTokens,
      costMicros: history.costMicros,
      score: scores.get(history.generation),
    })),
    ...input.records
      .filter(({ generation, state }) => generation === undefined && kindOf(state) !== 'compacted')
      .map((record): ComparedOutcome => ({
        variant: record.variant ?? input.variant,
        kind: kindOf(record.state),
        isRefused: refusedStates.some((state) => state === record.state),
        beforeTokens: record.beforeTokens,
        afterTokens: record.afterTokens,
        costMicros: record.costMicros,
      })),
  ];
}

const mean = (values: readonly (number | undefined)[]): number | undefined => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0
    ? undefined
    : known.reduce((sum, value) => sum + value, 0) / known.length;
};

/** A mean that grows by one value at a time. */
export interface RunningSums {
  conversations: Map<string, number>;
  outcomes: Map<string, ComparedOutcome[]>;
}

/** Figures of all variants, the deployment's own settings first. */
export function variantFigures({ conversations, outcomes }: RunningSums): VariantFigures[] {
  const names = [...new Set([...conversations.keys(), ...outcomes.keys()])].toSorted();
  return names.map((variant) => {
    const own = outcomes.get(variant) ?? [];
    const swaps = own.filter(({ kind }) => kind === 'compacted');
    const count = (kind: ComparedOutcome['kind']) =>
      own.filter((each) => each.kind === kind).length;
    const scores = swaps.flatMap(({ score }) => score ?? []);
    return {
      variant,
      conversations: conversations.get(variant) ?? 0,
      attempts: own.length,
      compacted: swaps.length,
      failed: count('failed'),
      nothing: count('nothing'),
      meanBeforeTokens: mean(swaps.map(({ beforeTokens }) => beforeTokens)),
      meanAfterTokens: mean(swaps.map(({ afterTokens }) => afterTokens)),
      meanCostMicros: mean(swaps.map(({ costMicros }) => costMicros)),
      ratings: scores.length,
      meanScore: mean(scores),
      refused: own.filter(({ isRefused }) => isRefused).length,
    };
  });
}
