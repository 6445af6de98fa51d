/*
 * Genkit: an agent over its Firestore session store, as its README shows. A turn resumes the session by its id,
 * which loads its newest snapshot, and saves the next.
 */
import { randomUUID } from 'node:crypto';
import { FirestoreSessionStore } from '@genkit-ai/google-cloud/beta';
import { Firestore } from '@google-cloud/firestore';
import { genkit } from 'genkit/beta';
import { ANSWER, serveTurns } from '../serve-peer.ts';

const db = new Firestore();
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

async function turn(sessionId, text) {
  const { finishReason } = await agent.chat({ sessionId }).send(text);
  if (finishReason !== 'stop') throw new Error(`the turn ended with ${finishReason}`);
}

serveTurns({
  seed: async (messages) => {
    const sessionId = randomUUID();
    const now = new Date().toISOString();
    const stored = messages.slice(0, -2 * TURNS_AFTER_CHECKPOINT);
    const state = {
      sessionId,
      messages: stored.map(({ role, text }) => ({ role, content: [{ text }] })),
      artifacts: [],
    };
    await store.saveSnapshot(undefined, () => ({
      sessionId,
      createdAt: now,
      updatedAt: now,
      status: 'completed',
      finishReason: 'stop',
      state,
    }));
    for (let added = 0; added < TURNS_AFTER_CHECKPOINT; added++) await turn(sessionId, 'And then?');
    return sessionId;
  },
  turn,
});
