import { madeUpAnswer, madeUpQuestion } from '#test/support/compaction/conversation-builder.ts';
import { servePeer } from './peer-host.ts';
import type { Figures } from './peer-wire.ts';

/** A system that keeps conversations, used as its own documentation says. */
interface TurnPeer {
  /** Stores one with so many past turns, as they leave it. */
  seed(turns: number): Promise<Seed>;
  /** The user says `text`; resolves once the answer is stored. The history is loaded as the system does it. */
  turn(conversationId: string, text: string): Promise<void>;
  /** Documents read and written so far, where they can be counted. */
  documents?(): Figures;
}

interface Seed {
  conversationId: string;
  /** How long the turn took in which older turns were summarised, where there was one. */
  summaryMs?: number;
}

export interface PastMessage {
  role: 'user' | 'model';
  text: string;
}

/** What the free model says. */
export const ANSWER = 'Noted.';

const QUESTION = 'Where is it quiet in the morning, and for how long?';

/** The messages of so many turns, the same that Recap's conversations have. */
export const pastMessages = (turns: number): PastMessage[] =>
  Array.from({ length: turns }, (_, index): PastMessage[] => [
    { role: 'user', text: madeUpQuestion(index + 1) },
    { role: 'model', text: madeUpAnswer(index + 1) },
  ]).flat();

const difference = (after: Figures, before: Figures): Figures =>
  Object.fromEntries(
    Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
  );

/** Two works: `seed` stores a conversation of so many turns, `turn` adds one to it and tells what it took. */
export function serveTurns(peer: TurnPeer): void {
  const conversations = new Map<string, string>();
  const documents = () => peer.documents?.() ?? {};
  servePeer({
    seed: async (turns) => {
      const { conversationId, ...figures } = await peer.seed(Number(turns));
      conversations.set(turns, conversationId);
      return figures;
    },
    turn: async (turns) => {
      const before = documents();
      const startedAt = performance.now();
      await peer.turn(conversations.get(turns) ?? '', QUESTION);
      const ms = performance.now() - startedAt;
      return { ms, ...difference(documents(), before) };
    },
  });
}
