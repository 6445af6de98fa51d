import { setTimeout as delay } from 'node:timers/promises';
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
  /** Whether the check made its user itself, who is then erased as well. */
  isOwnUser: boolean;
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
  first?: StreamRead;
  /** The compaction did what there was to do, but made no snapshot. */
  isNoop?: boolean;
}

export const conversationPath = ({ conversationId }: SmokeContext, rest = ''): string =>
  `/v1/conversations/${conversationId}${rest}`;

/** Looks until something is there; undefined when that takes longer than the run may wait. */
export async function waitFor<Found>(
  { waitMs, pollMs }: Pick<SmokeOptions, 'waitMs' | 'pollMs'>,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const startedAt = performance.now();
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() - startedAt > waitMs) return found;
    await delay(pollMs);
  }
}
