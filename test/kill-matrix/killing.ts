import { afterAll, beforeAll } from 'vitest';
import { deliverAgain } from './recovery.ts';
import { startVictims, type Victim, type Victims } from './victims.ts';
import { readDocuments } from '#lab/property/invariants/documents.ts';
import { buildConversation } from '../support/compaction/conversation-builder.ts';

/** Of the least a caller may set; twenty made-up turns exceed it. */
const THRESHOLD_TOKENS = 1_000;

/** Longer ago than an event travels, and not so long that nobody serves it any more. */
export const since = () => new Date(Date.now() - 120_000);
export const auto = () => ({
  auto: { requestId: 'auto-1', since: since(), trigger: 'auto' as const },
});

export const compact = (conversationId: string) => ({
  schemaVersion: 1,
  conversationId,
  requestId: 'auto-1',
});

/**
 * Processes of both functions on the emulators, which are killed one after the other. Starts them before the tests of
 * the file and ends them behind.
 */
export function killing() {
  let started: Victims | undefined;
  let kills = 0;
  beforeAll(async () => {
    started = await startVictims();
  });
  afterAll(async () => {
    await started?.stop();
    console.log(`kill matrix on the emulators: SIGKILL ${kills}`);
  });
  const victims = (): Victims => {
    if (!started) throw new Error('the processes have not been started');
    return started;
  };
  return {
    victims,
    documentsOf: (conversationId: string) => readDocuments(victims().chat.store, conversationId),
    built: async (options: Partial<Parameters<typeof buildConversation>[1]> = {}) => {
      const { conversationId } = await buildConversation(victims().chat.store, {
        turns: 20,
        ...options,
        conversation: { settings: { thresholdTokens: THRESHOLD_TOKENS }, ...options.conversation },
      });
      return conversationId;
    },
    /** Kills a process that serves `work` at `point`. */
    killAt: async (point: string, work: (victim: Victim) => Promise<void>): Promise<void> => {
      const victim = await victims().next();
      await victim.killAt(point, work);
      kills += 1;
    },
    deliver: (data: object & { conversationId?: string }) => deliverAgain(victims().worker, data),
  };
}
