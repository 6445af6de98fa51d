import { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { appendTurns, askForCompaction, storeConversation } from '../eval/run/eval-store.ts';
import type { RecordedTurn } from '../eval/run/eval-turns.ts';
import { createManualClock, type ManualClock } from '#test/fakes/manual-clock.ts';
import { see } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { readGoldenTurns } from './golden-conversation.ts';
import type { GoldenConversation } from './golden-conversations.ts';

/** What one compaction left, with the turns that stood then. */
export interface GoldenGeneration {
  conversation: GoldenConversation;
  number: number;
  history: History;
  /** All that were stored then, oldest first. */
  turns: readonly RecordedTurn[];
  /** What the model would see, as JSON. */
  contextText: string;
}

const MODEL = 'gemini-2.5-flash';
const SEED = 'golden';
/** Between the last answer and the compaction. */
const PAUSE_MS = 60_000;

/** The worker with the real adapter of the model; what it draws is counted. */
function workerAt(baseUrl: string, clock: ManualClock, budget: number): CompactionDependencies {
  const bench = compactionBench();
  let drawn = 0;
  return {
    ...bench,
    config: { ...bench.config, policySettings: { snapshotBudgetTokens: budget } },
    clock,
    randomness: {
      uuid: () => `00000000-0000-4000-8000-${String(++drawn).padStart(12, '0')}`,
    },
    model: createGeminiModel({
      apiKey: 'stand-in',
      baseUrl,
      firstEventTimeoutMs: 10_000,
      eventIdleTimeoutMs: 10_000,
      requestTimeoutMs: 20_000,
    }),
  };
}

async function compactOnce(
  worker: CompactionDependencies,
  ask: { conversationId: string; requestId: string },
): Promise<{ history: History; text: string }> {
  const { conversationId } = ask;
  await askForCompaction(worker.store, { ...ask, since: worker.clock.now() });
  const signal = new AbortController().signal;
  const { state, reason } = await runCompaction(worker, { conversationId, signal }).then(
    (result) => (result.kind === 'done' ? result : { state: 'RETRY', reason: result.reason }),
  );
  const { history, text } = await see(worker.store, conversationId);
  if (state !== 'COMPACTED' || history === undefined)
    throw new Error(`${ask.requestId} ended as ${state ?? 'nothing'}: ${reason ?? 'no reason'}`);
  return { history, text };
}

/**
 * Lets a conversation grow and compacts it three times, as the service does: worker, store in memory, and
 * the summariser over HTTP. The clock stands at the time of the newest turn. Throws an Error where a
 * compaction does not swap.
 */
export async function compactGolden(conversation: GoldenConversation): Promise<GoldenGeneration[]> {
  const { name, profile, compactedAt, snapshotBudgetTokens } = conversation;
  const turns = await readGoldenTurns(name);
  const start = turns[0]?.at ?? new Date(0);
  const clock = createManualClock(start);
  const server = await startFakeGemini({ seed: SEED });
  try {
    const worker = workerAt(server.url, clock, snapshotBudgetTokens);
    const { store } = worker;
    const conversationId = await storeConversation(store, { model: MODEL, profile, now: start });
    const generations: GoldenGeneration[] = [];
    let stored = 0;
    for (const [index, count] of compactedAt.entries()) {
      await appendTurns(store, { conversationId, stored }, turns.slice(stored, count));
      stored = count;
      const newest = turns[count - 1]?.at ?? start;
      clock.advance(newest.getTime() + PAUSE_MS - clock.now().getTime());
      const requestId = `${name}-${index + 1}`;
      const { history, text } = await compactOnce(worker, { conversationId, requestId });
      generations.push({
        conversation,
        number: index + 1,
        history,
        turns: turns.slice(0, count),
        contextText: text,
      });
    }
    return generations;
  } finally {
    await server.close();
  }
}
