/*
 * Mastra: an agent and its memory over the store that it ships for a file of libSQL, with the ten newest messages in each
 * prompt, which is its default.
 */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from '@mastra/core/agent';
import { LibSQLStore } from '@mastra/libsql';
import { Memory } from '@mastra/memory';
import { ANSWER, serveTurns } from '../serve-peer.ts';

const RESOURCE = 'u1';
const MESSAGES_PER_CALL = 200;

const memory = new Memory({
  storage: new LibSQLStore({ id: 'bench', url: `file:${join(tmpdir(), 'memory.db')}` }),
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
    const thread = { resourceId: RESOURCE, threadId: randomUUID() };
    await memory.createThread(thread);
    const startedAt = Date.now() - past.length * 30_000;
    const messages = past.map(({ role, text }, index) => ({
      id: randomUUID(),
      ...thread,
      role: role === 'user' ? 'user' : 'assistant',
      createdAt: new Date(startedAt + index * 30_000),
      content: { format: 2, parts: [{ type: 'text', text }] },
    }));
    // What it takes for one call grows with the square of the messages.
    for (let first = 0; first < messages.length; first += MESSAGES_PER_CALL)
      await memory.saveMessages({ messages: messages.slice(first, first + MESSAGES_PER_CALL) });
    return thread.threadId;
  },
  turn: async (threadId, text) => {
    const answer = await agent.generate(text, { memory: { thread: threadId, resource: RESOURCE } });
    if (answer.text !== ANSWER) throw new Error(`answered ${answer.text}`);
  },
});
