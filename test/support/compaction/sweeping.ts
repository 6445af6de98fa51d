import type { CompactionDependencies } from '#functions/worker/compaction/compaction-dependencies.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { readConversation, readTurns } from '#shared/conversation/context/read-conversation.ts';
import { newTurnWrites, startWrites } from '#shared/conversation/writes/turn-writes.ts';
import type { Write } from '#shared/ports/ports.ts';
import { createManualClock } from '#test/fakes/manual-clock.ts';
import { neverAborted } from './compacted-conversation.ts';
import { compactionBench, type CompactionBench } from './compaction-dependencies.ts';
import { buildConversation, userText } from './conversation-builder.ts';

/** Two minutes after the needs of `buildDue` were noted. */
export const sweepBench = (overrides: Partial<CompactionBench> = {}) =>
  compactionBench({
    clock: createManualClock(new Date('2026-01-02T03:06:05.000Z')),
    ...overrides,
  });

export const sweep = (bench: CompactionDependencies) => runSweep(bench, neverAborted());

/** A conversation document that no sweep publishes anything for. */
export const quiet = { compactionRequests: {} };

/** Time of the bench, in seconds from now. */
export const inSeconds = (bench: CompactionBench, seconds: number) =>
  new Date(bench.clock.now().getTime() + seconds * 1_000);

/** A conversation of two turns whose third was started by an instance that has been silent since. */
export async function buildOpen(bench: CompactionBench, leaseUntil: Date): Promise<string> {
  const { conversationId } = await buildConversation(bench.store, {
    turns: 2,
    conversation: quiet,
  });
  const conversation = await readConversation(bench.store, conversationId);
  if (!conversation) throw new Error('no head');
  await bench.store.commit(
    startWrites({
      conversationId,
      messageId: 'open',
      bodyHash: 'built',
      seq: 3,
      user: userText('Are you there?'),
      userTokens: 4,
      lease: { producer: 'gone', leaseUntil },
      now: new Date(0),
      conversation,
    }),
  );
  return conversationId;
}

/** Puts messages behind the open turn that wait until the times given. */
export async function addQueued(
  bench: CompactionBench,
  conversationId: string,
  leases: readonly Date[],
) {
  const [first] = leases;
  const writes: Write[] = leases.flatMap((leaseUntil, i) =>
    newTurnWrites(
      {
        conversationId,
        messageId: `queued-${i}`,
        bodyHash: 'built',
        seq: 4 + i,
        user: userText('And you?'),
        userTokens: 4,
        lease: { producer: `waiter-${i}`, leaseUntil },
        now: new Date(0),
      },
      'queued',
    ),
  );
  const fields = { lastSeq: 3 + leases.length, queue: { first: 4, leaseUntil: first ?? null } };
  const path = conversationPath(conversationId);
  await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }, ...writes]);
}

export const storedConversation = async (bench: CompactionBench, conversationId: string) =>
  (await readConversation(bench.store, conversationId))?.value;

export const statesFrom = async (bench: CompactionBench, conversationId: string, seqs: number[]) =>
  (await readTurns(bench.store, conversationId, seqs)).map(({ value }) => value.state);
