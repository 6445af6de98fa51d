import type { CompactionArguments } from '../compaction-arguments.ts';
import type { Recording } from '../replay/recording.ts';
import type { EvalBench } from './eval-bench.ts';
import { compactThrough, type CompactedOnce } from './eval-compaction.ts';
import { appendTurns, storeConversation } from './eval-store.ts';
import { slicesOf, turnsOf, type RecordedTurn } from './eval-turns.ts';

interface Grown {
  conversationId: string;
  turns: readonly RecordedTurn[];
  /** Compactions, oldest first; the last one may have failed. */
  generations: CompactedOnce[];
}

export type GrowSettings = Pick<
  CompactionArguments,
  'profile' | 'repeat' | 'keepFraction' | 'snapshotTokens' | 'thresholdTokens'
>;

/** A compaction one of whose prompts has no answer: whatever came of it, nothing is known. */
const waiting = ({ modelCalls, durationMs }: CompactedOnce): CompactedOnce => ({
  state: 'WAITING',
  reason: 'ANSWERS_MISSING',
  modelCalls,
  durationMs,
});

/**
 * Stores a recording in `repeat` slices and compacts after each of them. A failure ends it, and so does a prompt
 * without an answer (`WAITING`). `beforeEach` is called before each compaction.
 */
export async function compactGrowing(
  bench: EvalBench,
  wanted: GrowSettings & { beforeEach?: () => void },
  recording: Recording,
): Promise<Grown> {
  const { store, clock, randomness } = bench.dependencies;
  const { snapshotTokens, thresholdTokens } = wanted;
  const turns = turnsOf(recording);
  const conversation = {
    model: bench.model,
    profile: wanted.profile,
    ...(recording.system !== undefined && { systemInstruction: recording.system }),
    now: turns[0]?.at ?? clock.now(),
  };
  const conversationId = await storeConversation(store, conversation, randomness);
  bench.answers?.beginConversation({ id: recording.id, strategy: bench.strategy });
  const generations: CompactedOnce[] = [];
  let stored = 0;
  const slices = slicesOf(turns, { count: wanted.repeat, keepFraction: wanted.keepFraction });
  for (const slice of slices) {
    await appendTurns(store, { conversationId, stored }, turns.slice(stored, slice.stored));
    ({ stored } = slice);
    wanted.beforeEach?.();
    bench.answers?.beginGeneration(generations.length + 1);
    const run = await compactThrough(bench.dependencies, {
      conversationId,
      lastFoldedSeq: slice.folded,
      ...(snapshotTokens !== undefined && { snapshotTokens }),
      ...(thresholdTokens !== undefined && { thresholdTokens }),
    });
    const isWaiting = bench.answers?.isWaiting() === true;
    generations.push(isWaiting ? waiting(run) : run);
    if (isWaiting || run.history === undefined) break;
  }
  return { conversationId, turns, generations };
}
