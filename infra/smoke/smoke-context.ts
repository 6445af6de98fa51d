import type { SmokeClient } from './smoke-client.ts';
import type { StreamRead } from './read-stream.ts';

export interface SmokeOptions {
  /** How long a compaction, and an erasure, may take. */
  waitMs: number;
  pollMs: number;
  /** A word that nobody else says; absent: a random one. */
  codeWord?: string | undefined;
  /** Signs a user in: the headers of their calls, and who it is, for people. Throws SmokeFailure. */
  signIn: () => Promise<{ headers: Readonly<Record<string, string>>; who: string }>;
  /** Also erase the user; only where the run itself made it. */
  erasesUser: boolean;
  /** Origin of a page that is to be allowed to call; absent: not looked at. */
  origin?: string | undefined;
  /** Tells where a long step stands. */
  progress: (text: string) => void;
}

/** What one run has found out; each step adds to it. */
export interface SmokeContext {
  /** Without a token until `sign-in`. */
  client: SmokeClient;
  options: SmokeOptions;
  conversationId: string;
  /** A word that nobody else says, which must survive. */
  codeWord: string;
  /** User messages that were answered, in order. */
  sent: { id: string; text: string }[];
  first?: StreamRead;
  /** The compaction did what there was to do, but made no snapshot. */
  isNoop?: boolean;
  generation?: number;
}

export const conversationPath = ({ conversationId }: SmokeContext, rest = ''): string =>
  `/v1/conversations/${conversationId}${rest}`;
