/*
 * LangGraph: LangChain's agent over the checkpointer for Firestore that is on npm, `node turns.ts [summaries]`: with
 * LangChain's summarizationMiddleware, else with the whole conversation. A turn loads the newest checkpoint and
 * stores one at each step of the graph.
 */
import { randomUUID } from 'node:crypto';
import { ANSWER, peerModule, serveTurns } from '../serve-peer.ts';

interface Messages {
  HumanMessage: new (text: string) => object;
  AIMessage: new (text: string) => object;
}

interface Config {
  configurable: { thread_id: string };
}

interface Agent {
  invoke(input: { messages: object[] }, config: Config): Promise<unknown>;
  graph: { updateState(config: Config, values: object, asNode?: string): Promise<unknown> };
}

const { HumanMessage, AIMessage } = await peerModule<Messages>(
  import.meta.resolve('@langchain/core/messages'),
);
const { FakeListChatModel } = await peerModule<{
  FakeListChatModel: new (options: { responses: string[] }) => object;
}>(import.meta.resolve('@langchain/core/utils/testing'));
const { createAgent, summarizationMiddleware } = await peerModule<{
  createAgent: (options: object) => Agent;
  summarizationMiddleware: (options: object) => object;
}>(import.meta.resolve('langchain'));
const { FirestoreSaver } = await peerModule<{ FirestoreSaver: new (options: object) => object }>(
  import.meta.resolve('langgraph-checkpoint-firestore'),
);
const { Firestore } = await peerModule<{ Firestore: new (options: object) => object }>(
  import.meta.resolve('@google-cloud/firestore'),
);

/** Recap's own threshold of tokens and number of newest messages that are left alone, as its bench has them. */
const TRIGGER_TOKENS = 24_000;
const KEPT_MESSAGES = 80;

/** A bucket in memory: free, so that what the peer keeps there costs it nothing. */
function createMemoryBucket() {
  const files = new Map<string, Uint8Array>();
  return {
    file: (path: string) => ({
      save: (content: Uint8Array) => Promise.resolve(void files.set(path, content)),
      download: () => Promise.resolve([files.get(path) ?? new Uint8Array()]),
    }),
  };
}

const model = new FakeListChatModel({ responses: [ANSWER] });
const agent = createAgent({
  model,
  tools: [],
  checkpointer: new FirestoreSaver({
    firestore: new Firestore({ projectId: process.env['GOOGLE_CLOUD_PROJECT'] }),
    storage: { bucket: createMemoryBucket },
    bucket: 'bench',
  }),
  middleware:
    process.argv[2] === 'summaries'
      ? [
          summarizationMiddleware({
            model,
            trigger: { tokens: TRIGGER_TOKENS },
            keep: { messages: KEPT_MESSAGES },
          }),
        ]
      : [],
});

const configOf = (id: string): Config => ({ configurable: { thread_id: id } });

const turn = (id: string, text: string) =>
  agent.invoke({ messages: [new HumanMessage(text)] }, configOf(id));

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
