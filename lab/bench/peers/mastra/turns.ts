/*
 * Mastra: an agent and its memory over the store that it ships for a file of libSQL, `node turns.ts [whole]`: with
 * the whole conversation in each prompt, else with its ten newest messages, which is its default.
 */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ANSWER, peerModule, serveTurns } from '../serve-peer.ts';

interface Thread {
  id: string;
}

interface Memory {
  createThread(options: { resourceId: string; threadId: string }): Promise<Thread>;
  saveMessages(options: { messages: object[] }): Promise<unknown>;
}

interface Agent {
  generate(text: string, options: object): Promise<{ text: string }>;
}

const { Agent } = await peerModule<{ Agent: new (options: object) => Agent }>(
  import.meta.resolve('@mastra/core/agent'),
);
const { Memory } = await peerModule<{ Memory: new (options: object) => Memory }>(
  import.meta.resolve('@mastra/memory'),
);
const { LibSQLStore } = await peerModule<{ LibSQLStore: new (options: object) => object }>(
  import.meta.resolve('@mastra/libsql'),
);

const RESOURCE = 'u1';
/** More than any conversation here has. */
const ALL_MESSAGES = 1_000_000;

const MESSAGES_PER_CALL = 200;

const memory = new Memory({
  storage: new LibSQLStore({ id: 'bench', url: `file:${join(tmpdir(), 'memory.db')}` }),
  ...(process.argv[2] === 'whole' && { options: { lastMessages: ALL_MESSAGES } }),
});
/** A language model as the AI SDK has them. */
const model = {
  specificationVersion: 'v2',
  provider: 'bench',
  modelId: 'free',
  supportedUrls: {},
  doGenerate: () =>
    Promise.resolve({
      content: [{ type: 'text', text: ANSWER }],
      finishReason: 'stop',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      warnings: [],
    }),
  doStream: () => Promise.reject(new Error('nothing is streamed')),
};
const agent = new Agent({
  id: 'assistant',
  name: 'assistant',
  instructions: 'You plan a journey.',
  model,
  memory,
});

serveTurns({
  seed: async (past) => {
    const { id: threadId } = await memory.createThread({
      resourceId: RESOURCE,
      threadId: randomUUID(),
    });
    const startedAt = Date.now() - past.length * 30_000;
    const messages = past.map(({ role, text }, index) => ({
      id: randomUUID(),
      threadId,
      resourceId: RESOURCE,
      role: role === 'user' ? 'user' : 'assistant',
      createdAt: new Date(startedAt + index * 30_000),
      content: { format: 2, parts: [{ type: 'text', text }] },
    }));
    // What it takes for one call grows with the square of the messages.
    for (let first = 0; first < messages.length; first += MESSAGES_PER_CALL)
      await memory.saveMessages({ messages: messages.slice(first, first + MESSAGES_PER_CALL) });
    return threadId;
  },
  turn: async (threadId, text) => {
    const answer = await agent.generate(text, { memory: { thread: threadId, resource: RESOURCE } });
    if (answer.text !== ANSWER) throw new Error(`answered ${answer.text}`);
  },
});
