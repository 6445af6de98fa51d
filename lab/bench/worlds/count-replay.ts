import { createHash, randomUUID } from 'node:crypto';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { createDependencies } from '#functions/dependencies.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import { startFakeGemini, type FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { decodeHistory, type History } from '#shared/conversation/documents/history.ts';
import { historyPath } from '#shared/conversation/documents/paths.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { EventPublisher, ModelRequest } from '#shared/ports/ports.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import { countStore, type CountedStore } from './counted-store.ts';
import type { Operations } from '#lab/cost/prices.ts';

/** What a turn or a compaction was seen to take, on average; the answers are those of the fake Gemini. */
interface Counted {
  turn: Operations;
  compaction: Operations & {
    calls: number;
    /** Tokens that all its calls read ÷ tokens of the context before. */
    readFactor: number;
    outputTokens: number;
    /** Of the first call: system instruction and schema. */
    instructionTokens: number;
  };
}

/** One message and its answer. */
interface ReplayedTurn {
  user: string;
  answer: string;
}

/** Events that were published, and how many of them are pushed on: those of the compaction topic. */
function countPublisher() {
  let messages = 0;
  const due = new Set<string>();
  const publisher: EventPublisher = {
    publish: ({ topic, data }) => {
      messages += topic === 'compaction' ? 2 : 1;
      if (topic === 'compaction' && 'conversationId' in data) due.add(String(data.conversationId));
      return Promise.resolve();
    },
  };
  const take = () => {
    const taken = { messages, due: [...due] };
    messages = 0;
    due.clear();
    return taken;
  };
  return { publisher, take };
}

const sha256 = (text: string) => createHash('sha256').update(text, 'utf8').digest('hex');

function openWorld(fakeGemini: FakeGemini, settings: Record<string, string>) {
  const counted = countStore(createMemoryDocumentStore());
  const events = countPublisher();
  const environment = stackEnvironment({
    shell: {},
    model: { kind: 'stand-in' },
    fakeGeminiUrl: fakeGemini.url,
    settings: { TELL_TIME: 'with-context', ...settings },
  });
  const dependencies = createDependencies(localConfig(environment), {
    store: counted.store,
    publisher: events.publisher,
    logger: { log: () => undefined },
  });
  return { counted, events, dependencies };
}

const add = (sum: Operations, omit: Omit<Operations, 'messages'>, messages: number): void => {
  sum.reads += omit.reads;
  sum.writes += omit.writes;
  sum.deletes += omit.deletes;
  sum.messages += messages;
};

const mean = (sum: Operations, count: number): Operations => ({
  reads: sum.reads / count,
  writes: sum.writes / count,
  deletes: sum.deletes / count,
  messages: sum.messages / count,
});

const none = (): Operations => ({ reads: 0, writes: 0, deletes: 0, messages: 0 });

const meanOf = (histories: readonly History[], figure: (history: History) => number): number =>
  histories.reduce((sum, history) => sum + figure(history), 0) / histories.length;

const meanCompaction = (histories: readonly History[]) => ({
  calls: meanOf(histories, ({ modelCalls }) => modelCalls),
  readFactor: meanOf(histories, ({ usage, beforeTokens }) => usage.promptTokens / beforeTokens),
  outputTokens: meanOf(histories, ({ usage }) => usage.outputTokens),
});

/** The worker, and what its model is asked first. */
function overhearCompaction(worker: CompactionDependencies) {
  let first: ModelRequest | undefined;
  const model: CompactionDependencies['model'] = {
    countTokens: (prompt, signal) => worker.model.countTokens(prompt, signal),
    generate: (request, signal) => {
      first ??= request;
      return worker.model.generate(request, signal);
    },
  };
  const instructionTokens = () => {
    const { systemInstruction = '', responseJsonSchema } = first ?? {};
    const schema = responseJsonSchema === undefined ? '' : JSON.stringify(responseJsonSchema);
    return estimateTextTokens(`${systemInstruction}${schema}`, 'character-class');
  };
  return { compaction: { ...worker, model }, instructionTokens };
}

/** Tokens of the newest history, as it entered the conversation document. */
async function newestHistory({ store }: CountedStore, conversationId: string) {
  const conversation = await readConversation(store, conversationId);
  const [document] = await store.get([
    historyPath(conversationId, conversation?.value.generation ?? 0),
  ]);
  return document && decodeHistory(document);
}

/** Sends one message whose answer is given, and reads it to its end. */
async function sayAndHear(
  target: { chat: ChatDependencies; fakeGemini: FakeGemini; conversationId: string },
  { user, answer }: ReplayedTurn,
): Promise<void> {
  const { chat, fakeGemini, conversationId } = target;
  fakeGemini.clearAnswers();
  const contents = [{ role: 'model', parts: [{ text: answer }] }];
  fakeGemini.registerAnswers({ userHash: sha256(user), ordinal: 1, contents });
  const handle = await sendMessage(chat, {
    caller: { uid: 'u1', tier: 'signedIn' },
    conversationId,
    message: { id: randomUUID(), parts: [{ text: user }] },
  });
  handle.subscribe(new AbortController().signal);
  for await (const _ of handle.frames());
  await handle.result;
}

/**
 * Holds a conversation with the functions themselves, over a store and a bus in memory, and counts: documents and
 * events of a turn, and of a compaction with its calls. What an instance reads on its first turn counts as well.
 * Throws Error where the turns are too few for a compaction at the threshold.
 */
export async function countReplay(
  turns: readonly ReplayedTurn[],
  options: { model: string; thresholdTokens: number },
): Promise<Counted & { turns: number; compactions: number; beforeTokens: number }> {
  const fakeGemini = await startFakeGemini();
  try {
    const { counted, events, dependencies } = openWorld(fakeGemini, {
      MODEL: options.model,
      THRESHOLD_FRACTION: '1',
      THRESHOLD_TOKENS: String(options.thresholdTokens),
    });
    const chat = await dependencies.chat();
    const { compaction, instructionTokens } = overhearCompaction(await dependencies.compaction());
    const conversationId = randomUUID();
    const ofTurns = none();
    const ofCompactions = none();
    const histories: History[] = [];
    for (const { user, answer } of turns) {
      await sayAndHear({ chat, fakeGemini, conversationId }, { user, answer });
      const { messages, due } = events.take();
      // What a crossing publishes is the compaction's.
      add(ofTurns, counted.take(), due.length === 0 ? messages : 0);
      if (due.length === 0) continue;
      const signal = new AbortController().signal;
      await runCompaction(compaction, { conversationId, signal });
      add(ofCompactions, counted.take(), messages + events.take().messages);
      const history = await newestHistory(counted, conversationId);
      counted.take();
      if (history) histories.push(history);
    }
    if (histories.length === 0)
      throw new Error(
        `${turns.length} turns reach no threshold of ${options.thresholdTokens} tokens`,
      );
    return {
      turns: turns.length,
      compactions: histories.length,
      beforeTokens: meanOf(histories, ({ beforeTokens }) => beforeTokens),
      turn: mean(ofTurns, turns.length),
      compaction: {
        ...mean(ofCompactions, histories.length),
        ...meanCompaction(histories),
        instructionTokens: instructionTokens(),
      },
    };
  } finally {
    await fakeGemini.close();
  }
}
