import { noCache } from '#shared/recall/search-cache.ts';
import { selectOutputForms } from '#functions/context/next-call.ts';
import { readForCompaction, readConversationAndJob } from '#functions/worker/compaction/reading.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import type { PolicySettings } from '#shared/compaction/policy-settings.ts';
import { sentOutputs } from '#shared/conversation/context/sent-view.ts';
import { assembleContext } from '#shared/conversation/context/assemble-context.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Profile } from '#shared/conversation/documents/snapshot.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';
import { updateDocument } from '#test/support/compaction/compacted-conversation.ts';
import {
  buildConversation,
  turnWrites,
  userText,
} from '#test/support/compaction/conversation-builder.ts';
import type { CompactionSettings } from '../eval-settings.ts';
import type { Recording } from '../replay/recording.ts';
import type { EvalBench } from './bench.ts';
import { slicesOf, turnsOf, type RecordedTurn } from './recorded-turns.ts';
import { z } from 'zod';

/** Turns of one commit; each is two documents and its overflow. */
const turnsPerCommit = 100;

/** Stores a conversation without turns, under ids that the bench draws. Returns its id. */
export async function storeConversation(
  { dependencies, model }: EvalBench,
  { profile, system, now }: { profile: Profile; system?: string | undefined; now: Date },
): Promise<string> {
  const { store, randomness } = dependencies;
  const overheadTokens =
    system === undefined ? 0 : estimateContentTokens(userText(system), 'character-class');
  const { conversationId } = await buildConversation(store, {
    conversationId: randomness.uuid(),
    turns: [],
    now,
    conversation: {
      epoch: randomness.uuid(),
      ownerUid: 'eval',
      model,
      profile,
      ...(system !== undefined && { systemInstruction: system }),
      context: {
        tokens: 0,
        overheadTokens: Math.ceil(overheadTokens),
        calibration: 1,
        source: 'estimated',
        generation: 0,
        seq: 0,
      },
    },
  });
  return conversationId;
}

/** Stores finished turns behind the first `stored` ones. */
export async function appendTurns(
  { dependencies: { store } }: EvalBench,
  { conversationId, stored }: { conversationId: string; stored: number },
  turns: readonly RecordedTurn[],
): Promise<void> {
  const writes = turns.map(({ user, contents, at, finishedAt }, index) =>
    turnWrites({
      conversationId,
      seq: stored + index + 1,
      turn: { user, answer: contents },
      now: at,
      finishTime: finishedAt,
    }),
  );
  for (let start = 0; start < writes.length; start += turnsPerCommit)
    await store.commit(writes.slice(start, start + turnsPerCommit).flat());
  await updateDocument(store, conversationPath(conversationId), {
    lastSeq: stored + turns.length,
  });
}

/** One compaction and what it left. */
interface CompactedOnce {
  state: string;
  reason?: string;
  /** Absent when nothing was swapped. */
  history?: History;
  modelCalls: number;
}

interface CompactionToRun {
  conversationId: string;
  /** Last turn that shall be folded. */
  lastFoldedSeq: number;
  snapshotTokens?: number | undefined;
  /** Soft threshold that budgets follow. */
  thresholdTokens?: number | undefined;
}

async function reading(dependencies: WorkerDependencies, conversationId: string) {
  const uncached = { ...dependencies, cache: noCache };
  const { conversation, job } = await readConversationAndJob(uncached, conversationId);
  if (!conversation) throw new Error(`there is no conversation ${conversationId}`);
  return readForCompaction(uncached, conversationId, { conversation, job });
}

/**
 * The `preserveFraction` with which the product's split, by characters of JSON with the tool outputs as they are sent,
 * comes to lie behind the turn: in the middle between the fractions that reach it and the place before it.
 */
async function preserveFractionFor(
  dependencies: WorkerDependencies,
  { conversationId, lastFoldedSeq }: CompactionToRun,
): Promise<number> {
  const { conversation, history, turns } = await reading(dependencies, conversationId);
  const { model, coveredThrough } = conversation.value;
  const { items } = sentOutputs(
    assembleContext({ model, pins: [], history, coveredThrough, turns }),
    selectOutputForms(dependencies, conversation.value),
  );
  let total = 0;
  let before = 0;
  let beforeLast = 0;
  for (const { seq, content } of items) {
    const length = JSON.stringify(content).length;
    total += length;
    if ((seq ?? 0) <= lastFoldedSeq) before += length;
    if ((seq ?? 0) < lastFoldedSeq) beforeLast += length;
  }
  const middle = (before + beforeLast) / 2 / Math.max(1, total);
  return 1 - Math.min(0.999, Math.max(0.001, middle));
}

const withSettings = (
  dependencies: WorkerDependencies,
  policySettings: PolicySettings,
): WorkerDependencies => ({
  ...dependencies,
  config: { ...dependencies.config, policySettings },
});

/** Asks for a compaction that folds the turns up to one, and runs it as the worker does. */
export async function compactThrough(
  dependencies: WorkerDependencies,
  wanted: CompactionToRun,
): Promise<CompactedOnce> {
  const { conversationId, snapshotTokens, thresholdTokens } = wanted;
  const budgets: PolicySettings = {
    ...(snapshotTokens !== undefined && { snapshotBudgetTokens: snapshotTokens }),
    ...(thresholdTokens !== undefined && { thresholdTokens }),
  };
  const policySettings: PolicySettings = {
    ...budgets,
    preserveFraction: await preserveFractionFor(withSettings(dependencies, budgets), wanted),
  };
  const since = dependencies.clock.now();
  const requestId = dependencies.randomness.uuid();
  await updateDocument(dependencies.store, conversationPath(conversationId), {
    compactionRequests: { manual: { requestId, since } },
  });
  const result = await runCompaction(withSettings(dependencies, policySettings), {
    conversationId,
    signal: new AbortController().signal,
  });
  if (result.kind !== 'done') return { state: 'RETRY', reason: result.reason, modelCalls: 0 };
  const { history, job } = await reading(dependencies, conversationId);
  const isSwapped = history?.requestId === requestId;
  return {
    state: result.state ?? 'NOTHING',
    ...(result.reason !== undefined && { reason: result.reason }),
    ...(isSwapped && { history }),
    modelCalls: job?.value.records.at(-1)?.modelCalls ?? 0,
  };
}

interface Grown {
  conversationId: string;
  turns: readonly RecordedTurn[];
  /** Compactions, oldest first; the last one may have failed. */
  generations: CompactedOnce[];
}

/** A compaction one of whose prompts has no answer: whatever came of it, nothing is known. */
const waiting = { state: 'WAITING', reason: 'ANSWERS_MISSING' };

/**
 * Stores a recording in `repeat` slices and compacts after each of them. A failure ends it, and so does a prompt
 * without an answer (`WAITING`). `beforeEach` is called before each compaction.
 */
export async function compactGrowing(
  bench: EvalBench,
  wanted: CompactionSettings & { beforeEach?: () => void },
  recording: Recording,
): Promise<Grown> {
  const turns = turnsOf(recording);
  const conversationId = await storeConversation(bench, {
    profile: wanted.profile,
    system: recording.system,
    now: turns[0]?.at ?? bench.dependencies.clock.now(),
  });
  bench.answers?.beginConversation({ id: recording.id, strategy: bench.strategy });
  const generations: CompactedOnce[] = [];
  let stored = 0;
  const slices = slicesOf(turns, { count: wanted.repeat, keepFraction: wanted.keepFraction });
  for (const slice of slices) {
    await appendTurns(bench, { conversationId, stored }, turns.slice(stored, slice.stored));
    ({ stored } = slice);
    wanted.beforeEach?.();
    bench.answers?.beginGeneration(generations.length + 1);
    const run = await compactThrough(bench.dependencies, {
      ...wanted,
      conversationId,
      lastFoldedSeq: slice.folded,
    });
    const isWaiting = bench.answers?.isWaiting() === true;
    generations.push(isWaiting ? { ...waiting, modelCalls: run.modelCalls } : run);
    if (isWaiting || run.history === undefined) break;
  }
  return { conversationId, turns, generations };
}

const reportSchema = z.looseObject({ markedCount: z.number() });

/** Values that the report of a compaction names as said by nobody; 0 where it tells of none. */
export const markedIn = ({ report }: Pick<History, 'report'>): number =>
  reportSchema.safeParse(report).data?.markedCount ?? 0;
