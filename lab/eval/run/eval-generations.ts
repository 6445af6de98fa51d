import { readTurns } from '#shared/conversation/context/read-conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { EvalArguments } from '../eval-arguments.ts';
import type { EvalBench } from './eval-bench.ts';
import { compactThrough, type CompactedOnce } from './eval-compaction.ts';
import { statementsOf } from './eval-statements.ts';
import { appendTurns, storeConversation } from './eval-store.ts';
import { foldedCount, slicesOf, turnsOf, type RecordedTurn, type Slice } from './eval-turns.ts';
import type { Recording } from '../replay/recording.ts';

/** One compaction of a conversation that grows. */
interface Generation extends CompactedOnce {
  /** Turns that were stored at that time. */
  stored: number;
}

interface Grown {
  conversationId: string;
  turns: readonly RecordedTurn[];
  /** Oldest first, failed ones included. */
  generations: Generation[];
}

export type GrowSettings = Pick<
  EvalArguments,
  'profile' | 'repeat' | 'keepFraction' | 'snapshotTokens' | 'thresholdTokens' | 'trial' | 'seed'
>;

/** What stands after a swap. */
export interface Standing {
  history: History;
  folded: Turn[];
  kept: Turn[];
  /** What the snapshot says, a statement each. */
  statements: string[];
}

const numbersFrom = (first: number, last: number): number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);

/** The stored turns from `first` to `last`. */
export async function storedTurns(
  { dependencies }: EvalBench,
  conversationId: string,
  { first, last }: { first: number; last: number },
): Promise<Turn[]> {
  const found = await readTurns(dependencies.store, conversationId, numbersFrom(first, last));
  return found.map(({ value }) => value);
}

const budgetsOf = ({ snapshotTokens, thresholdTokens }: GrowSettings) => ({
  ...(snapshotTokens !== undefined && { snapshotTokens }),
  ...(thresholdTokens !== undefined && { thresholdTokens }),
});

/** Where the folds of a slice end: in the middle of what it folds, too, where that is tried. */
function foldsOf(
  turns: readonly RecordedTurn[],
  slice: Slice,
  { trial, since }: { trial: GrowSettings['trial']; since: number },
): number[] {
  if (trial?.kind !== 'staged') return [slice.folded];
  const middle = since + foldedCount(turns.slice(since, slice.folded), 0.5);
  return middle > since && middle < slice.folded ? [middle, slice.folded] : [slice.folded];
}

/** A compaction one of whose prompts has no answer: whatever came of it, nothing is known. */
const waiting = ({ modelCalls, durationMs }: CompactedOnce): CompactedOnce => ({
  state: 'WAITING',
  reason: 'ANSWERS_MISSING',
  modelCalls,
  durationMs,
});

/**
 * Stores a recording in `repeat` slices and compacts after each of them. A failure ends it, unless
 * `goesOn`; so does a prompt without an answer (`WAITING`). A trial may compact a slice twice. `beforeEach` is told the number of the generation, from 1.
 */
export async function compactGrowing(
  bench: EvalBench,
  wanted: GrowSettings & { goesOn?: boolean; beforeEach?: (generation: number) => void },
  recording: Recording,
): Promise<Grown> {
  const { store, clock, randomness } = bench.dependencies;
  const turns = turnsOf(recording);
  const conversation = {
    model: bench.model,
    profile: wanted.profile,
    ...(recording.system !== undefined && { systemInstruction: recording.system }),
    now: turns[0]?.at ?? clock.now(),
  };
  const conversationId = await storeConversation(store, conversation, randomness);
  bench.answers?.beginConversation({ id: recording.id, strategy: bench.strategy });
  const generations: Generation[] = [];
  let stored = 0;
  let since = 0;
  const slices = slicesOf(turns, { count: wanted.repeat, keepFraction: wanted.keepFraction });
  for (const [index, slice] of slices.entries()) {
    await appendTurns(store, { conversationId, stored }, turns.slice(stored, slice.stored));
    ({ stored } = slice);
    wanted.beforeEach?.(index + 1);
    for (const folded of foldsOf(turns, slice, { trial: wanted.trial, since })) {
      bench.answers?.beginGeneration(generations.length + 1);
      const run = await compactThrough(bench.dependencies, {
        conversationId,
        lastFoldedSeq: folded,
        ...budgetsOf(wanted),
        ...(wanted.trial && { trial: wanted.trial }),
        // Asked again with one seed the fake Gemini would forget the same statements.
        beforeCall: (call) =>
          bench.fakeGemini?.setSeed(call === 1 ? wanted.seed : `${wanted.seed}/${call}`),
      });
      const isWaiting = bench.answers?.isWaiting() === true;
      generations.push({ ...(isWaiting ? waiting(run) : run), stored });
      if (isWaiting || (run.history === undefined && wanted.goesOn !== true))
        return { conversationId, turns, generations };
    }
    since = slice.folded;
  }
  return { conversationId, turns, generations };
}

/** What stands after one of the generations; undefined where it did not swap. */
export async function standingAfter(
  bench: EvalBench,
  conversationId: string,
  generation: Generation | undefined,
): Promise<Standing | undefined> {
  if (generation?.history === undefined) return undefined;
  const { history, stored } = generation;
  const { seq } = history.coveredThrough;
  return {
    history,
    folded: await storedTurns(bench, conversationId, { first: 1, last: seq }),
    kept: await storedTurns(bench, conversationId, { first: seq + 1, last: stored }),
    statements: statementsOf(history.snapshotText),
  };
}
