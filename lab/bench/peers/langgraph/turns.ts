/*
 * LangGraph: LangChain's agent over the checkpointer for Firestore that is on npm, `node turns.ts [summaries]`: with
 * LangChain's summarizationMiddleware, else with the whole conversation. A turn loads the newest checkpoint and
 * stores one at each step of the graph.
 */
import { randomUUID } from 'node:crypto';
import { countDocuments, type CountableFirestore } from '../count-documents.ts';
import { peerModule } from '../peer-host.ts';
import { ANSWER, pastMessages, serveTurns } from '../turn-peer.ts';
import { createMemoryBucket } from './memory-bucket.ts';

interface Messages {
  HumanMessage: new (text: string) => object;
  AIMessage: new (text: string) => object;
}

interface Config {
  configurable: { thread_id: string };
}

interface Agent {
  invoke(input: { messages: object[] }, config: Config): Promise<{ messages: unknown[] }>;
  graph: { updateState(config: Config, values: object, asNode?: string): Promise<unknown> };
}

interface Query {
  get: () => Promise<{ size: number }>;
}

interface Firestore extends CountableFirestore {
  collection(path: string): { limit(count: number): Query };
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
const { Firestore: Client } = await peerModule<{ Firestore: new (options: object) => Firestore }>(
  import.meta.resolve('@google-cloud/firestore'),
);

/** Recap's own threshold of tokens and number of newest messages that are left alone, as its bench has them. */
const TRIGGER_TOKENS = 24_000;
const KEPT_MESSAGES = 80;

const firestore = new Client({ projectId: process.env['GOOGLE_CLOUD_PROJECT'] });
const { documents, found } = countDocuments(firestore);

/** Queries are counted by what they find. */
function countQueries(): void {
  const prototype: Query = Object.getPrototypeOf(firestore.collection('any').limit(1));
  const get = prototype.get;
  prototype.get = async function counted(this: Query) {
    const result = await get.call(this);
    found(result.size);
    return result;
  };
}
countQueries();

const model = new FakeListChatModel({ responses: [ANSWER] });
const agent = createAgent({
  model,
  tools: [],
  checkpointer: new FirestoreSaver({
    firestore,
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

/** Resolves to how many messages there are afterwards. */
async function turn(id: string, text: string): Promise<number> {
  const { messages } = await agent.invoke({ messages: [new HumanMessage(text)] }, configOf(id));
  return messages.length;
}

/** The first turn after the threshold summarises, while its user waits; those after it find the summary. */
async function firstTurn(id: string, past: number): Promise<{ summaryMs?: number }> {
  const startedAt = performance.now();
  const messages = await turn(id, 'And then?');
  return messages < past ? { summaryMs: performance.now() - startedAt } : {};
}

serveTurns({
  documents,
  seed: async (turns) => {
    const conversationId = randomUUID();
    const messages = pastMessages(turns).map(({ role, text }) =>
      role === 'user' ? new HumanMessage(text) : new AIMessage(text),
    );
    await agent.graph.updateState(configOf(conversationId), { messages }, 'model_request');
    return { conversationId, ...(await firstTurn(conversationId, messages.length)) };
  },
  turn: async (id, text) => void (await turn(id, text)),
});
