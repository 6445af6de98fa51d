import type { FinishedTurn } from '#functions/chat/turns/live/live-turn.ts';
import type { Replacing } from '#functions/chat/turns/send/send-request.ts';
import type { ModelRequest, Write } from '#shared/ports/ports.ts';

/** A commit that was applied, in the order of all. */
interface AppliedCommit {
  process: string;
  /** The request that it was made for: the same object in all that one action does. */
  flow: object;
  atMs: number;
  writes: readonly Write[];
}

/** An answer that a client has received in full. */
interface Acknowledgement {
  messageId: string;
  /** What the user said; absent where a turn says again what another said. */
  text: string | undefined;
  turn: FinishedTurn['turn'];
}

/** What the chat model was sent, and how many commits had been applied by then. */
interface ChatCall extends ModelRequest {
  /** The request that it was made for. */
  flow: object;
  afterCommits: number;
}

/** What the app said to a call, and was told that it was taken. */
interface TakenResult {
  seq: number;
  index: number;
  response: Record<string, unknown>;
}

/** Everything that is remembered of a run beside the documents. */
export interface Journal {
  commits: AppliedCommit[];
  chatCalls: ChatCall[];
  acknowledged: Acknowledgement[];
  taken: TakenResult[];
  /** Message id → how it was sent first. */
  sent: Map<string, { name: string; replacing: Replacing | undefined }>;
  /** What an action threw. */
  errors: { action: string; error: unknown }[];
}

/** What the model, a tool and the summariser say next in place of what they are to say. */
export interface HostileValues {
  model: unknown[];
  tool: unknown[];
  summariser: unknown[];
}

export const createJournal = (): Journal => ({
  commits: [],
  chatCalls: [],
  acknowledged: [],
  taken: [],
  sent: new Map(),
  errors: [],
});
