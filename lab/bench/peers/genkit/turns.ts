/*
 * Genkit: an agent over its Firestore session store, as its README shows. A turn resumes the session by its id,
 * which loads its newest snapshot, and saves the next.
 */
import { randomUUID } from 'node:crypto';
import { countDocuments, type CountableFirestore } from '../count-documents.ts';
import { peerModule } from '../peer-host.ts';
import { ANSWER, pastMessages, serveTurns } from '../turn-peer.ts';

interface Message {
  role: string;
  content: { text: string }[];
}

interface Store {
  saveSnapshot(id: undefined, mutator: () => object): Promise<string | null>;
}

interface Agent {
  chat(init: { sessionId: string }): { send(text: string): Promise<{ finishReason: string }> };
}

interface Genkit {
  defineModel(options: { name: string }, run: () => Promise<object>): unknown;
  defineAgent(config: object): Agent;
}

const { genkit } = await peerModule<{ genkit: (options: object) => Genkit }>(
  import.meta.resolve('genkit/beta'),
);
const { FirestoreSessionStore } = await peerModule<{
  FirestoreSessionStore: new (options: { db: CountableFirestore }) => Store;
}>(import.meta.resolve('@genkit-ai/google-cloud/beta'));
const { Firestore } = await peerModule<{
  Firestore: new (options: object) => CountableFirestore;
}>(import.meta.resolve('@google-cloud/firestore'));

const db = new Firestore({ projectId: process.env['GOOGLE_CLOUD_PROJECT'] });
const { documents } = countDocuments(db);
const store = new FirestoreSessionStore({ db });
const ai = genkit({});
const model = ai.defineModel({ name: 'free' }, () =>
  Promise.resolve({
    message: { role: 'model', content: [{ text: ANSWER }] },
    finishReason: 'stop',
  }),
);
const agent = ai.defineAgent({ name: 'assistant', model, system: 'You plan a journey.', store });

/**
 * Every 25th turn writes a checkpoint, the others what is new; a turn reads all since the checkpoint. With so many
 * turns after it, the ones that are measured find about half of the most there is to read.
 */
const TURNS_AFTER_CHECKPOINT = 9;
/** A checkpoint is one request, of which the emulator takes 4 MiB; Firestore itself takes 10. */
const MOST_CHECKPOINT_TURNS = 6_500;
/** What is new in one step has to fit into half a MiB. */
const MOST_STEP_TURNS = 600;

/** How many turns there are after each step in which a conversation is stored. */
function stepsOf(turns: number): number[] {
  const steps = [Math.min(turns, MOST_CHECKPOINT_TURNS)];
  while ((steps.at(-1) ?? turns) < turns)
    steps.push(Math.min(turns, (steps.at(-1) ?? 0) + MOST_STEP_TURNS));
  return steps;
}

async function turn(sessionId: string, text: string): Promise<void> {
  const { finishReason } = await agent.chat({ sessionId }).send(text);
  if (finishReason !== 'stop') throw new Error(`the turn ended with ${finishReason}`);
}

serveTurns({
  documents,
  seed: async (turns) => {
    const sessionId = randomUUID();
    const messages = pastMessages(turns).map(({ role, text }): Message => ({
      role,
      content: [{ text }],
    }));
    const steps = stepsOf(turns - Math.min(TURNS_AFTER_CHECKPOINT, turns - 1));
    let parentId: string | null = null;
    for (const stored of steps) {
      const now = new Date().toISOString();
      const state = { sessionId, messages: messages.slice(0, stored * 2), artifacts: [] };
      const times = { createdAt: now, updatedAt: now };
      const parent: { parentId?: string } = parentId === null ? {} : { parentId };
      parentId = await store.saveSnapshot(undefined, () => ({
        sessionId,
        ...parent,
        ...times,
        status: 'completed',
        finishReason: 'stop',
        state,
      }));
    }
    const stepsAfter = TURNS_AFTER_CHECKPOINT - (steps.length - 1);
    for (let added = 0; added < Math.min(stepsAfter, turns - 1); added++)
      await turn(sessionId, 'And then?');
    return { conversationId: sessionId };
  },
  turn,
});
