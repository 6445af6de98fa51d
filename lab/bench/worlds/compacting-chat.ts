import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { localProjectId } from '#infra/local/stack/stack-environment.ts';
import { startStack } from '#infra/local/stack/start-stack.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { firstTextMs } from './first-text.ts';
import { clientHeaders, sendRequest } from './send-request.ts';

/** About 24,000 tokens, as many as a conversation has when it is compacted. */
const TURNS = 185;
/** What the model takes itself, for an answer and for a summary. */
const MODEL_MS = 300;
const COMPACTED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;

const conversationSchema = z.object({
  context: z.object({ compaction: z.object({ state: z.string() }).nullable() }),
});

interface CompactingChat {
  /** Ms until the first text of one message to a conversation of 24,000 tokens. */
  alone(): Promise<number>;
  /** The same while a compaction of that conversation runs. Throws Error where it does not succeed. */
  whileCompacting(): Promise<number>;
  close(): Promise<void>;
}

interface Conversation {
  chatUrl: string;
  agent: Agent;
  conversationId: string;
}

const urlOf = ({ chatUrl, conversationId }: Conversation) =>
  `${chatUrl}/v1/conversations/${conversationId}`;

async function untilCompacted(conversation: Conversation): Promise<void> {
  const deadline = performance.now() + COMPACTED_WITHIN_MS;
  let state: string | undefined;
  while (performance.now() < deadline) {
    const reply = await fetch(urlOf(conversation), { headers: clientHeaders() });
    state = conversationSchema.parse(await reply.json()).context.compaction?.state;
    if (state === 'COMPACTED') return;
    await delay(LOOK_EVERY_MS);
  }
  throw new Error(`${conversation.conversationId} was not compacted: ${state ?? 'no state'}`);
}

const sendOne = ({ chatUrl, agent, conversationId }: Conversation): Promise<number> =>
  firstTextMs({
    ...sendRequest(chatUrl, { conversationId, text: 'And where is it quiet in the evening?' }),
    agent,
    textMark: '"text-delta"',
    lastWords: '[DONE]',
  });

async function askToCompact(conversation: Conversation): Promise<void> {
  const request = { method: 'POST', headers: clientHeaders(), body: '{}' };
  const reply = await fetch(`${urlOf(conversation)}:compact`, request);
  if (reply.status !== 202) throw new Error(`:compact was answered ${reply.status}`);
}

/** Google's client knows no other way to an emulator. */
function storeAt(host: string): DocumentStore {
  process.env['FIRESTORE_EMULATOR_HOST'] = host;
  process.env['METADATA_SERVER_DETECTION'] = 'none';
  return createFirestoreDocumentStore({ projectId: localProjectId, deadlineMs: 30_000 });
}

/** Chat and worker as processes of their own, on the emulators. Throws Error where none are installed. */
export async function startCompactingChat(): Promise<CompactingChat> {
  const stack = await startStack({
    shell: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    sweepSeconds: 0,
    log: () => undefined,
  });
  const { chatUrl, fakeGeminiUrl = '', firestoreHost } = stack;
  if (firestoreHost === undefined) throw new Error('the emulators are not installed');
  const before = process.env['FIRESTORE_EMULATOR_HOST'];
  const store = storeAt(firestoreHost);
  const timing = { timeToFirstTokenMs: MODEL_MS, tokensPerSecond: 0 };
  await fetch(`${fakeGeminiUrl}/control/timing`, { method: 'POST', body: JSON.stringify(timing) });
  const agent = new Agent({ keepAlive: true });
  const build = async (): Promise<Conversation> => {
    const { conversationId } = await buildConversation(store, { turns: TURNS });
    return { chatUrl, agent, conversationId };
  };
  return {
    alone: async () => sendOne(await build()),
    whileCompacting: async () => {
      const conversation = await build();
      await askToCompact(conversation);
      const ms = await sendOne(conversation);
      await untilCompacted(conversation);
      return ms;
    },
    close: async () => {
      agent.destroy();
      await stack.stop();
      if (before === undefined) delete process.env['FIRESTORE_EMULATOR_HOST'];
      else process.env['FIRESTORE_EMULATOR_HOST'] = before;
    },
  };
}
