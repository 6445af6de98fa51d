import type { EvalArguments } from '../eval-arguments.ts';
import type { EvalBench } from './eval-bench.ts';
import type { CompactedOnce } from './eval-compaction.ts';
import { compactGrowing, standingAfter, type Standing } from './eval-generations.ts';
import { measure, stillHeld, type Measure, type Share } from './eval-measure.ts';
import type { Recording } from '../replay/recording.ts';

/** What one conversation came to; the measures are absent when its last compaction failed. */
export interface EvalResult {
  id: string;
  /** Of the last compaction. */
  state: string;
  reason?: string;
  generations: number;
  /** Index into the recording of what stays word for word. */
  keepFrom?: number;
  snapshot?: string;
  snapshotTokens?: number;
  beforeTokens?: number;
  afterTokens?: number;
  measure?: Measure;
  /** Of what the first snapshot held; from the second generation on. */
  retention?: Share;
  /** Of all compactions together. */
  calls: number;
  promptTokens: number;
  outputTokens: number;
  durationMs: number;
}

function totals(runs: readonly CompactedOnce[]) {
  const histories = runs.flatMap(({ history }) => history ?? []);
  const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
  return {
    calls: sum(runs.map(({ modelCalls }) => modelCalls)),
    promptTokens: sum(histories.map(({ usage }) => usage.promptTokens)),
    outputTokens: sum(histories.map(({ usage }) => usage.outputTokens)),
    durationMs: sum(runs.map(({ durationMs }) => durationMs)),
  };
}

/** Of the facts that the first snapshot held, on the turns of that time, those that the last context holds. */
function retentionOf(first: Standing | undefined, last: Standing): Share | undefined {
  if (first === undefined || first.history.generation === last.history.generation) return undefined;
  return stillHeld(measure(first).inSnapshot, last);
}

/** Compacts one recorded conversation, once or as often as it grows, and measures what is left of it. */
export async function evaluate(
  bench: EvalBench,
  wanted: EvalArguments,
  recording: Recording,
): Promise<EvalResult> {
  const { conversationId, turns, generations } = await compactGrowing(bench, wanted, recording);
  const last = generations.at(-1);
  const result = {
    id: recording.id,
    state: last?.state ?? 'NOTHING',
    ...(last?.reason !== undefined && { reason: last.reason }),
    generations: generations.filter(({ history }) => history !== undefined).length,
    ...totals(generations),
  };
  const standing = await standingAfter(bench, conversationId, last);
  if (standing === undefined) return result;
  const { history, statements } = standing;
  const retention = retentionOf(
    await standingAfter(bench, conversationId, generations[0]),
    standing,
  );
  return {
    ...result,
    keepFrom: turns[history.coveredThrough.seq]?.firstIndex ?? recording.turns.length,
    snapshot: statements.join('\n'),
    snapshotTokens: history.snapshotTokens,
    beforeTokens: history.beforeTokens,
    afterTokens: history.afterTokens,
    measure: measure(standing),
    ...(retention && { retention }),
  };
}
