import { setImmediate } from 'node:timers/promises';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { callCostMicros } from '#functions/models/models-in-use.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import {
  budgetCollection,
  budgetShardPath,
  usagePath,
} from '#shared/conversation/documents/paths.ts';
import { reportedCall } from '#shared/models/find-price.ts';
import type { Clock, ModelChunk, ModelRequest, ModelUsage } from '#shared/ports/ports.ts';
import { encodeUsage, heldAt, noUsage, openAt, toDay } from '#shared/quota/usage.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import {
  createScriptedModel,
  snapshotAnswer,
  type ScriptedAnswer,
} from '#test/fakes/scripted-model.ts';
import { compactOnce, compactionBench } from '#test/support/compaction/compacted-conversation.ts';
import { limitedChat, usageOf } from '#test/support/chat/quotas.ts';

/** Waits up to this long pass at once, ms: those between two tries. Leases and deadlines stand still. */
const SHORT_WAIT_MS = 1_000;

/** A model works for some turns of the event loop, so that calls which may run side by side do. */
const TURNS_OF_A_CALL = 20;

/** What a long call of the summariser and a short one beside a message take, tokens. */
const longUsage: ModelUsage = {
  promptTokens: 2_000,
  cachedTokens: 0,
  outputTokens: 8_000,
  thoughtsTokens: 0,
};
const shortUsage: ModelUsage = {
  promptTokens: 50,
  cachedTokens: 0,
  outputTokens: 50,
  thoughtsTokens: 0,
};

/** One call of a model, and what it really costs, in millionths of a dollar. */
interface MeteredCall {
  role: ModelRequest['role'];
  promptId: string;
  costMicros: number;
}

export interface MeteredOptions {
  environment: Record<string, string>;
  overrides?: Partial<ChatDependencies>;
  /** What is said to a call of chat. */
  say?: (request: ModelRequest) => ModelChunk['parts'];
  /** What the summariser answers, one call after the other; the last one again and again. */
  summaries?: readonly ScriptedAnswer[];
}

const createClock = () => {
  const manual = createManualClock();
  const wait: Clock['wait'] = (ms, signal) =>
    ms <= SHORT_WAIT_MS ? setImmediate() : manual.wait(ms, signal);
  return { ...manual, wait };
};

export type MeteredWorld = ReturnType<typeof meteredWorld>;

type Store = ReturnType<typeof createMemoryDocumentStore>;

/** Counts calls where they are made, and looks for them in the books while they run. */
function createMeter(
  { store, clock, isLimited }: { store: Store; clock: Clock; isLimited: boolean },
  config: () => ChatDependencies['config'],
) {
  const calls: MeteredCall[] = [];
  const running: MeteredCall[] = [];
  const unheld: string[] = [];

  const isOfTurn = ({ role }: Pick<MeteredCall, 'role'>) =>
    role === 'chat' || role === 'utility_router';

  /** An answer and the choice of its model run under one reservation, every other call under what it holds itself. */
  const lookForHold = async (call: MeteredCall) => {
    const usage = await usageOf(store);
    const now = clock.now();
    const holds = { turn: openAt(usage, now).length, other: heldAt(usage.held, now).length };
    const alike = running.filter((other) => isOfTurn(other) === isOfTurn(call));
    if (holds[isOfTurn(call) ? 'turn' : 'other'] < alike.length)
      unheld.push(`${call.role} ${call.promptId}`);
  };
  const work = async <T>(request: ModelRequest, usage: ModelUsage, answer: () => Promise<T>) => {
    const { model, role, promptId } = request;
    const costMicros = callCostMicros(config(), reportedCall(model, usage));
    const call = { role, promptId, costMicros };
    calls.push(call);
    running.push(call);
    try {
      if (isLimited) await lookForHold(call);
      for (let turn = 0; turn < TURNS_OF_A_CALL; turn++) await setImmediate();
      return await answer();
    } catch (error) {
      // What a model refuses costs nothing.
      call.costMicros = 0;
      throw error;
    } finally {
      running.splice(running.indexOf(call), 1);
    }
  };
  return { calls, unheld, work };
}

/** Delivers what was asked for, all at once, as a subscription with many workers does. */
async function deliverAll(
  chat: ReturnType<typeof limitedChat>,
  worker: ReturnType<typeof compactionBench>,
) {
  const asked = chat.published.splice(0).concat(worker.published.splice(0));
  const ids = asked.flatMap(({ topic, data }) =>
    topic === 'compaction' && 'conversationId' in data ? [String(data.conversationId)] : [],
  );
  return Promise.all([...new Set(ids)].map((id) => compactOnce(worker, id)));
}

/** The user, or all together, have spent so much before. */
async function spendBefore(
  { store, clock }: { store: Store; clock: Clock },
  input: { user?: number; all?: number },
) {
  const now = clock.now();
  const fields = encodeUsage({ ...noUsage, costMicros: input.user ?? 0 }, now);
  await store.commit([
    { op: 'create', path: usagePath('u1', toDay(now)), fields },
    {
      op: 'create',
      path: budgetShardPath(toDay(now), 'another-instance'),
      fields: { schemaVersion: 1, costMicros: input.all ?? 0, expireTime: now },
    },
  ]);
}

/**
 * Chat and worker of user u1 on one store, with one model behind both ports: every call is counted where it is made,
 * whatever the books say, and is looked for in them while it runs.
 */
export function meteredWorld({ environment, overrides, say, summaries }: MeteredOptions) {
  const store = createMemoryDocumentStore();
  const clock = createClock();
  const summariser = createScriptedModel({ answers: summaries ?? [snapshotAnswer()] });

  const { calls, unheld, work } = createMeter(
    { store, clock, isLimited: environment['USER_DAILY_USD'] !== undefined },
    () => chat.config,
  );
  const model: ChatDependencies['model'] = {
    async *stream(request) {
      const parts = await work(request, shortUsage, () =>
        Promise.resolve(say?.(request) ?? [{ text: 'A trip to Busan in May.' }]),
      );
      yield { parts };
      yield { parts: [], finishReason: 'STOP', usage: shortUsage };
    },
  };
  const chat = limitedChat(environment, { store, clock, model, ...overrides });
  const worker = compactionBench({
    store,
    clock,
    config: chat.config,
    model: {
      ...summariser,
      generate: async (request, signal) => {
        const answer = await work(request, longUsage, () => summariser.generate(request, signal));
        return { ...answer, usage: longUsage };
      },
    },
  });
  return {
    chat,
    worker,
    store,
    clock,
    calls,
    /** Calls for which nothing was held while they ran. */
    unheld,
    spentMicros: () => calls.reduce((sum, { costMicros }) => sum + costMicros, 0),
    /** What stands in the books of the user and of all. */
    books: async () => ({
      usage: await usageOf(store),
      all: {
        costMicros: await store.sum(budgetCollection(toDay(clock.now())), 'costMicros'),
        heldMicros: await store.sum(budgetCollection(toDay(clock.now())), 'heldMicros'),
      },
    }),
    /** As if a worker had been told of it. */
    ask: (conversationId: string) =>
      void chat.published.push({ topic: 'compaction', data: { conversationId } }),
    deliver: () => deliverAll(chat, worker),
    spendBefore: (input: { user?: number; all?: number }) => spendBefore({ store, clock }, input),
  };
}
