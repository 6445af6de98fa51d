import type { createGeminiModel } from '#functions/adapters/gemini/gemini-model.ts';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import { systemClock } from '#functions/adapters/clocks.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { Clock } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { compactionBench } from '../compaction/compaction-dependencies.ts';
import { buildConversation } from '../compaction/conversation-builder.ts';
import { appTool, countingTools, MODEL, toolChat } from '../tools/tool-world.ts';

export const RESULT_TIMEOUT_MS = 900_000;
const LEASE_MS = 20_000;
/** What was said before exceeds it, and a few rounds more exceed the hard threshold, which is twice as high. */
const THRESHOLD_TOKENS = 1_000;
const TURNS_BEFORE = 12;

const environment = {
  TOOL_RESULT_TIMEOUT_MS: String(RESULT_TIMEOUT_MS),
  TURN_LEASE_MS: String(LEASE_MS),
  CLIENT_WRITABLE: 'model',
  ROUTING_MODELS: 'gemini-3.8-flash,gemini-3.1-pro-preview',
};

/** Chat, worker and sweep on one store and one clock that can be set forward. */
export async function createToolStage(model: ReturnType<typeof createGeminiModel>) {
  const store = createMemoryDocumentStore();
  const { tools } = countingTools();
  let aheadMs = 0;
  const clock: Clock = { ...systemClock, now: () => new Date(Date.now() + aheadMs) };
  const cache = createMemoryCache({ maxBytes: 10_000_000 });
  const { chat } = toolChat(model, { environment, tools, overrides: { store, clock, cache } });

  const worker = () => compactionBench({ store, clock: createManualClock(clock.now()) });
  const { conversationId } = await buildConversation(store, {
    turns: TURNS_BEFORE,
    conversation: {
      model: MODEL,
      settings: { thresholdTokens: THRESHOLD_TOKENS },
      toolsJson: JSON.stringify(['locate', 'choose'].map(appTool)),
    },
  });
  return {
    store,
    conversationId,
    chat,
    worker,
    elapse: (ms: number) => (aheadMs += ms),
  };
}

export type ToolStage = Awaited<ReturnType<typeof createToolStage>>;
