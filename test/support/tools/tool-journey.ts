import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import { systemClock } from '#functions/adapters/clocks.ts';
import { requestCompaction } from '#functions/chat/context/manual-compaction.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { builtInTools } from '#functions/chat/turns/tools/built-in-tools.ts';
import { createToolbox } from '#functions/chat/turns/tools/toolbox.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import type { ToolResult } from '#shared/conversation/context/tool-results.ts';
import type { Caller } from '#shared/ports/ports.ts';
import { compactionBench } from '../compaction/compaction-dependencies.ts';
import { differsFromShown, promptSchema, type SentPrompt } from './shown-prompt.ts';
import { say, startToolModel, tool, toolChat, withAppTools } from './tool-world.ts';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';

const caller: Caller = { uid: 'u1', tier: 'signedIn' };

/** Small enough that two of the lists below are too much. */
const THRESHOLD_TOKENS = '1500';

/** A list of about 600 tokens. */
export const listing = (page: number) =>
  Array.from(
    { length: 30 },
    (_, i) => `berth ${page * 100 + i}: 12 m, free, key K-${page}${i}`,
  ).join('\n');

/** A prompt that the model was sent, under the name of the step that led to it. */
interface JourneyPrompt extends SentPrompt {
  step: string;
}

/** What the model was asked in a journey. */
function recordPrompts(fakeGemini: FakeGemini) {
  const prompts: JourneyPrompt[] = [];
  const refusals: string[] = [];

  /** Notes what it was asked in a step, and gives the first of it. */
  function take(step: string): JourneyPrompt | undefined {
    const asked = fakeGemini.journal();
    refusals.push(...asked.flatMap(({ refusal }) => (refusal ? [`${step}: ${refusal}`] : [])));
    const taken = asked
      .filter(({ role }) => role === 'chat')
      .map(({ n }) => ({ ...promptSchema.parse(fakeGemini.requestBody(n)), step }));
    prompts.push(...taken);
    fakeGemini.clearJournal();
    return taken[0];
  }

  return { prompts, refusals, take };
}

/** Chat and worker on one store; the tool `compact` does what it is told. */
async function openWorld(conversationId: string, compact: () => Promise<Record<string, unknown>>) {
  const { fakeGemini, model } = await startToolModel();
  const store = createMemoryDocumentStore();
  const cache = createMemoryCache({ maxBytes: 10_000_000 });
  const environment = { THRESHOLD_TOKENS };
  const bare = toolChat(model, { environment }).chat;
  const tools = [
    tool('list', { page: z.number() }, ({ page }) => Promise.resolve({ output: listing(page) })),
    tool('compact', {}, compact),
    {
      ...tool('transfer', { amount: z.number() }, ({ amount }) => Promise.resolve({ amount })),
      needsApproval: () => true,
    },
  ];
  const toolbox = createToolbox([...builtInTools({ ...bare, store, cache }), ...tools]);
  const { chat } = toolChat(model, { environment, overrides: { store, cache, toolbox } });
  const worker = {
    ...compactionBench(),
    config: chat.config,
    store,
    model,
    clock: systemClock,
    serverTools: toolbox.declarations,
  };
  await withAppTools(chat, conversationId, ['locate', 'choose']);
  return { fakeGemini, chat, worker };
}

/**
 * A conversation with tools of the server and of the app, before a model server that refuses what Gemini would
 * refuse, and a worker that compacts it whenever a step says so, also in the middle of a tool's work.
 */
export async function beginJourney() {
  const conversationId = randomUUID();
  const compactions: { step: string; state: string }[] = [];
  const differences: string[] = [];
  let step = '';
  /** The app owes an answer: the turn is in no context yet. */
  let isWaiting = false;

  const compact = async () => {
    await requestCompaction(chat, { caller, conversationId });
    const signal = new AbortController().signal;
    const result = await runCompaction(worker, { conversationId, signal });
    compactions.push({ step, state: result.kind === 'done' ? `${result.state}` : result.reason });
    return { state: compactions.at(-1)?.state };
  };
  const { fakeGemini, chat, worker } = await openWorld(conversationId, compact);
  const asked = recordPrompts(fakeGemini);

  return {
    chat,
    conversationId,
    prompts: asked.prompts,
    refusals: asked.refusals,
    differences,
    compactions,
    stop: () => fakeGemini.close(),
    /** Sends a message; the turn as it ended, or waits. */
    say: async (text: string) => {
      step = text;
      const shown = await showContext(chat, { caller, conversationId });
      const { turn } = await say(chat, conversationId, text);
      const first = asked.take(step);
      const difference = first && !isWaiting ? differsFromShown(first, shown) : undefined;
      isWaiting = turn.state === 'awaiting_tool';
      if (difference !== undefined) differences.push(`${step}: ${difference}`);
      return turn;
    },
    /** The app, or its user, answers a call. */
    answer: async (seq: number, result: ToolResult) => {
      step = `answer of ${result.callId}`;
      const turnId = `t_${seq}`;
      const target = { caller, conversationId, turnId, locale: undefined };
      const handle = await answerCalls(chat, { ...target, results: [result] });
      const { turn } = await handle.result;
      isWaiting = turn.state === 'awaiting_tool';
      asked.take(step);
      return turn;
    },
    compact: async (when: string) => {
      step = when;
      await compact();
      asked.take(step);
    },
  };
}
