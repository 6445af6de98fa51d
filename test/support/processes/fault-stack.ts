import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createMemoryCache } from '#functions/adapters/memory-cache.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import { runCompaction } from '#functions/worker/compaction/run-compaction.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { startFakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { DocumentStore, EventPublisher } from '#shared/ports/ports.ts';
import { contextResponse } from '#shared/wire/resources/context.ts';
import { messageListResponse, type MessageView } from '#shared/wire/resources/messages.ts';
import { createShiftedClock } from '#test/fakes/manual-clock.ts';
import { errorOf, startChatServer } from '#test/support/chat/chat-server.ts';
import { createAccounting } from '#functions/quota/accounting.ts';
import { compactionBench, neverAborted } from '#test/support/compaction/compacted-conversation.ts';
import { shownContents } from '#test/support/chat/sending.ts';
import { modelAt } from '#test/support/gemini-model-calls.ts';

/** What came of one message. */
interface Sent {
  http: number;
  /** Of an error. */
  reason?: string;
  /** Of an answer. */
  text?: string;
}

export type FaultStack = Awaited<ReturnType<typeof startFaultStack>>;

interface FaultStackOptions {
  environment?: Record<string, string>;
  publisher?: EventPublisher;
  /** How long a model that says nothing is waited for. */
  modelWaitMs?: number;
}

const answered = z.object({
  message: z.object({ parts: z.array(z.object({ text: z.string().optional() })) }),
});

async function sentOf(response: Response): Promise<Sent> {
  if (response.ok) {
    const { message } = answered.parse(await response.json());
    return { http: response.status, text: message.parts.map(({ text = '' }) => text).join('') };
  }
  const { http, reason } = await errorOf(response);
  return { http, reason };
}

const promptSchema = z.object({
  contents: z.array(
    z.looseObject({ parts: z.array(z.looseObject({ text: z.string().optional() })) }),
  ),
});

const SEND_TRIES = 12;
const ANSWERS = 50;
const LEASE_MS = 20_000;

/** The path of a conversation's messages. */
export const messagesPath = (conversationId: string) =>
  `/v1/conversations/${conversationId}/messages`;

/** The body of a message with one text. */
export const messageBody = (text: string, id: string = randomUUID()) => ({
  message: { id, parts: [{ type: 'text', text }] },
});

/** The running parts, before anything is said. */
async function startParts(options: FaultStackOptions) {
  const fakeGemini = await startFakeGemini();
  const store = createMemoryDocumentStore();
  const clock = createShiftedClock();
  const model = modelAt(fakeGemini.url, { waitMs: options.modelWaitMs ?? 10_000 });
  const cache = createMemoryCache({ maxBytes: 10_000_000 });
  const chat = await startChatServer({
    overrides: {
      store,
      clock,
      model,
      cache,
      ...(options.publisher && { publisher: options.publisher }),
    },
    environment: { MODEL: 'gemini-3.8-flash', ...options.environment },
  });
  const { config } = chat.dependencies;
  const bench = compactionBench();
  const accounting = createAccounting({ store, clock, randomness: bench.randomness });
  const worker: WorkerDependencies = { ...bench, config, store, clock, model, accounting };

  return { chat, fakeGemini, store, clock, worker };
}

/** Chat over HTTP and the worker, over one store, with the model's real adapter and a local model server. */
export async function startFaultStack(options: FaultStackOptions = {}) {
  const running = await startParts(options);
  const { chat, fakeGemini, clock, worker } = running;

  /** Sends a text as Alice and waits for the answer. */
  const send = async (conversationId: string, text: string, messageId?: string) =>
    sentOf(await chat.call(messagesPath(conversationId), { body: messageBody(text, messageId) }));

  /** The contents of the newest chat prompt, the new message last. */
  const lastPrompt = () => {
    const entry = fakeGemini
      .journal()
      .findLast(({ role, operation }) => role === 'chat' && operation !== 'countTokens');
    return promptSchema.parse(fakeGemini.requestBody(entry?.n ?? 0)).contents;
  };

  return {
    ...running,
    send,
    /** Comes back with the same message, each time after the lease, until it is answered. */
    async sendUntilAnswered(conversationId: string, text: string, messageId: string) {
      for (let tries = 1; ; tries++) {
        const sent = await send(conversationId, text, messageId);
        if (sent.http === 200 || tries === SEND_TRIES) return sent;
        clock.shift(LEASE_MS + 1);
      }
    },
    /** What the model answers to this user text, however often it is asked. */
    answerWith(userText: string, answer: string) {
      const userHash = createHash('sha256').update(userText).digest('hex');
      const contents = [{ role: 'model', parts: [{ text: answer }] }];
      const ordinals = Array.from({ length: ANSWERS }, (_, index) => index + 1);
      fakeGemini.registerAnswers(...ordinals.map((ordinal) => ({ userHash, ordinal, contents })));
    },
    /** Alice's transcript, oldest first. */
    async transcript(conversationId: string) {
      const response = await chat.call(`${messagesPath(conversationId)}?pageSize=100`);
      return messageListResponse.parse(await response.json()).messages;
    },
    /** What `/context` shows, without the system instruction. */
    async shownContents(conversationId: string) {
      const response = await chat.call(`/v1/conversations/${conversationId}/context`);
      const { items } = contextResponse.parse(await response.json());
      return shownContents(items);
    },
    lastPrompt,
    lastPromptTexts: () =>
      lastPrompt().map(({ parts }) => parts.map(({ text = '' }) => text).join('')),
    compact: (conversationId: string) =>
      runCompaction(worker, { conversationId, signal: neverAborted() }),
    stop: async () => {
      await chat.stop();
      await fakeGemini.close();
    },
  };
}

/** The document of a conversation that is there. */
export async function storedConversation(store: DocumentStore, conversationId: string) {
  const conversation = await readConversation(store, conversationId);
  if (!conversation) throw new Error(`there is no conversation ${conversationId}`);
  return conversation.value;
}

/** What the messages of a role say, in the order given. */
export const textsOf = (messages: readonly MessageView[], role: MessageView['role']) =>
  messages
    .filter((message) => message.role === role)
    .map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));
