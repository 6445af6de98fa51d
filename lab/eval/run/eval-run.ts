import { z } from 'zod';
import type { Recording } from '../replay/recording.ts';
import type { EvalBench } from './eval-bench.ts';
import { compactGrowing, type GrowSettings } from './eval-generations.ts';
import { statementsOf } from './eval-statements.ts';

/** What one conversation came to; what a snapshot has is absent when its last compaction failed. */
export interface EvalResult {
  id: string;
  /** Of the last compaction. */
  state: string;
  reason?: string;
  /** Compactions that swapped. */
  generations: number;
  /** Index into the recording of what stays word for word. */
  keepFrom?: number;
  snapshot?: string;
  snapshotTokens?: number;
  beforeTokens?: number;
  afterTokens?: number;
  /** Values that nobody said, of all compactions together; absent where no report tells. */
  marked?: number;
  /** Of all compactions together. */
  calls: number;
  promptTokens: number;
  outputTokens: number;
  durationMs: number;
}

const reportSchema = z.looseObject({ marked: z.array(z.unknown()) });

/** Values that the report of a compaction lists as marked. */
const markedIn = (report: Record<string, unknown>): number[] => {
  const { data } = reportSchema.safeParse(report);
  return data === undefined ? [] : [data.marked.length];
};

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** Compacts one recorded conversation, once or as often as it grows. */
export async function evaluate(
  bench: EvalBench,
  wanted: GrowSettings,
  recording: Recording,
): Promise<EvalResult> {
  const { turns, generations } = await compactGrowing(bench, wanted, recording);
  const last = generations.at(-1);
  const histories = generations.flatMap(({ history }) => history ?? []);
  const marked = histories.flatMap(({ report }) => markedIn(report));
  const result = {
    id: recording.id,
    state: last?.state ?? 'NOTHING',
    ...(last?.reason !== undefined && { reason: last.reason }),
    generations: histories.length,
    ...(marked.length > 0 && { marked: sum(marked) }),
    calls: sum(generations.map(({ modelCalls }) => modelCalls)),
    promptTokens: sum(histories.map(({ usage }) => usage.promptTokens)),
    outputTokens: sum(histories.map(({ usage }) => usage.outputTokens)),
    durationMs: sum(generations.map(({ durationMs }) => durationMs)),
  };
  const history = last?.history;
  if (history === undefined) return result;
  return {
    ...result,
    keepFrom: turns[history.coveredThrough.seq]?.firstIndex ?? recording.turns.length,
    snapshot: statementsOf(history.snapshotText).join('\n'),
    snapshotTokens: history.snapshotTokens,
    beforeTokens: history.beforeTokens,
    afterTokens: history.afterTokens,
  };
}
