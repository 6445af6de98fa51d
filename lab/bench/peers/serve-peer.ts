import { madeUpAnswer, madeUpQuestion } from '#test/support/compaction/conversation-builder.ts';

/** What a peer's process is asked to do: one of its works, with one argument. */
export interface Order {
  work: string;
  argument: string;
}

/** What it answers: ms, or why it could not do it. */
export type Reply = { ms: number } | { reason: string };

/** What a peer can be asked for, by name; each resolves to ms. */
type Works = Readonly<Record<string, (argument: string) => Promise<number>>>;

const MOST_CHARACTERS = 160;

/** The first line of what an error says, cut to what fits in a table. */
export function shortReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const line = text.split('\n', 1)[0]?.trim() ?? '';
  return line.length <= MOST_CHARACTERS ? line : `${line.slice(0, MOST_CHARACTERS - 1)}…`;
}

/** Works off one order. A work that fails is answered with the reason. */
async function replyTo({ work, argument }: Order, works: Works): Promise<Reply> {
  try {
    const run = works[work];
    if (run === undefined) throw new Error(`nobody can ${work}`);
    return { ms: await run(argument) };
  } catch (error) {
    return { reason: shortReason(error) };
  }
}

/** Makes this process one of a peer: it works off the orders of its parent, one at a time, until that is gone. */
export function servePeer(works: Works): void {
  process.on('message', (order) => {
    void replyTo(order as Order, works).then((reply) => process.send?.(reply));
  });
  process.on('disconnect', () => process.exit(0));
}

/** A system that keeps conversations, used as its own documentation says. */
interface TurnPeer {
  /** Stores a conversation with these past messages, as they leave it; resolves to its id. */
  seed(messages: readonly PastMessage[]): Promise<string>;
  /** The user says `text`; resolves once the answer is stored. The history is loaded as the system does it. */
  turn(conversationId: string, text: string): Promise<unknown>;
}

interface PastMessage {
  role: 'user' | 'model';
  text: string;
}

/** What the free model says. */
export const ANSWER = 'Noted.';

const QUESTION = 'Where is it quiet in the morning, and for how long?';

/** The messages of so many turns, the same that Recap's conversations have. */
const pastMessages = (turns: number): PastMessage[] =>
  Array.from({ length: turns }, (_, index): PastMessage[] => [
    { role: 'user', text: madeUpQuestion(index + 1) },
    { role: 'model', text: madeUpAnswer(index + 1) },
  ]).flat();

/** Two works: `seed` stores a conversation of so many turns, `turn` adds one to it. */
export function serveTurns(peer: TurnPeer): void {
  const conversations = new Map<string, string>();
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startedAt = performance.now();
    await work();
    return performance.now() - startedAt;
  };
  servePeer({
    seed: (turns) =>
      timed(async () => conversations.set(turns, await peer.seed(pastMessages(Number(turns))))),
    turn: (turns) => timed(() => peer.turn(conversations.get(turns) ?? '', QUESTION)),
  });
}
