import type { Case, Item } from './cases.ts';

const weights: Readonly<Record<string, number>> = {
  locked_decision_retention: 3,
  forbidden_behavior_retention: 3,
  immutable_fact_recall: 2,
  unresolved_task_continuity: 2,
};
/** To name what is forbidden is the right answer to these. */
const recallTypes = new Set(['locked_decision_retention', 'forbidden_behavior_retention']);

const normalize = (text: string): string => text.trim().toLowerCase().replaceAll(/\s+/gu, ' ');
const has = (text: string, part: string): boolean => normalize(text).includes(normalize(part));
const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

function scoreItem({ check, value, values }: Item['expected'], answer: string): number {
  switch (check) {
    case 'contains_normalized':
      return has(answer, value) ? 1 : 0;
    case 'forbidden_absent':
      return value === '' || !has(answer, value) ? 1 : 0;
    case 'exact':
      return answer.trim() === value.trim() ? 1 : 0;
    case 'set_match':
      return values.length === 0 ? 1 : mean(values.map((each) => (has(answer, each) ? 1 : 0)));
  }
}

interface CycleScore {
  /** 0 to 1, after the penalty for contradictions. */
  score: number;
  /** Of decisions and prohibitions, one an item. */
  constraintScores: number[];
  /** Keys of the items below 1. */
  missed: string[];
}

/** Scores the answers of a cycle, by key of the item, as CompactBench's methodology says. */
export function scoreCycle(
  { items, forbidden }: Pick<Case, 'items' | 'forbidden'>,
  answers: ReadonlyMap<string, string>,
): CycleScore {
  const scored = items.map(({ key, type, expected }) => {
    const answer = answers.get(key) ?? '';
    const isRecall = recallTypes.has(type);
    const violates = !isRecall && forbidden.some((each) => has(answer, each));
    return {
      key,
      isRecall,
      violates,
      weight: weights[type] ?? 1,
      score: scoreItem(expected, answer),
    };
  });
  const total = scored.reduce((sum, { weight }) => sum + weight, 0);
  const reached = scored.reduce((sum, { weight, score }) => sum + weight * score, 0);
  const others = scored.filter(({ isRecall }) => !isRecall);
  const contradictions = mean(others.map(({ violates }) => (violates ? 1 : 0)));
  return {
    score: total === 0 ? 0 : (reached / total) * (1 - contradictions),
    constraintScores: scored.filter(({ isRecall }) => isRecall).map(({ score }) => score),
    missed: scored.filter(({ score }) => score < 1).map(({ key }) => key),
  };
}

/** 1: later cycles score as the first or better. */
export function driftResistance([first = 0, ...later]: readonly number[]): number {
  const drift = mean(later.map((score) => score - first));
  return Math.max(0, Math.min(1, 1 + drift));
}

export interface MeasuredCycle extends CycleScore {
  sourceTokens: number;
  contextTokens: number;
}

/** The figures of a method over its cases, each a list of cycles. */
export function summarise(cases: readonly MeasuredCycle[][]) {
  const all = cases.flat();
  const cycleCount = cases[0]?.length ?? 0;
  return {
    cases: cases.length,
    score: mean(cases.map((cycles) => mean(cycles.map(({ score }) => score)))),
    perCycle: Array.from({ length: cycleCount }, (_, index) =>
      mean(cases.map((cycles) => cycles[index]?.score ?? 0)),
    ),
    driftResistance: mean(cases.map((cycles) => driftResistance(cycles.map(({ score }) => score)))),
    constraintRetention: mean(all.flatMap(({ constraintScores }) => constraintScores)),
    compressionRatio: mean(
      all.map(({ sourceTokens, contextTokens }) => sourceTokens / Math.max(1, contextTokens)),
    ),
    contextTokens: mean(all.map(({ contextTokens }) => contextTokens)),
  };
}
