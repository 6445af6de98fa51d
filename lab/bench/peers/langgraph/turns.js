/*
 * LangGraph: LangChain's agent with its summarizationMiddleware over the checkpointer for Firestore that is on npm. A
 * turn loads the newest checkpoint and stores one at each step of the graph.
 */
import { randomUUID } from 'node:crypto';
import { Firestore } from '@google-cloud/firestore';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { createAgent, summarizationMiddleware } from 'langchain';
import { FirestoreSaver } from 'langgraph-checkpoint-firestore';
import { ANSWER, serveTurns } from '../serve-peer.ts';

/** A bucket in memory: free, so that what the peer keeps there costs it nothing. */
function createMemoryBucket() {
  const files = new Map();
  return {
    file: (path) => ({
      save: (content) => Promise.resolve(void files.set(path, content)),
      download: () => Promise.resolve([files.get(path) ?? new Uint8Array()]),
    }),
  };
}

const model = new FakeListChatModel({ responses: [ANSWER] });
// Recap's own threshold of tokens and number of newest messages that are left alone, as its bench has them.
const limits = { trigger: { tokens: 24_000 }, keep: { messages: 80 } };
const agent = createAgent({
  model,
  tools: [],
  checkpointer: new FirestoreSaver({
    firestore: new Firestore(),
    storage: { bucket: createMemoryBucket },
    bucket: 'bench',
  }),
  middleware: [summarizationMiddleware({ model, ...limits })],
});

const configOf = (id) => ({ configurable: { thread_id: id } });

const turn = (id, text) => agent.invoke({ messages: [new HumanMessage(text)] }, configOf(id));

serveTurns({
  seed: async (past) => {
    const conversationId = randomUUID();
    const messages = past.map(({ role, text }) =>
      role === 'user' ? new HumanMessage(text) : new AIMessage(text),
    );
    await agent.graph.updateState(configOf(conversationId), { messages }, 'model_request');
    // The first turn after the threshold summarises; those that are measured find the summary.
    await turn(conversationId, 'And then?');
    return conversationId;
  },
  turn,
});
