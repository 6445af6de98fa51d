import { describe, expect, test } from 'vitest';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { compactedTwice, type KnownItem } from '#test/support/compaction/known-items.ts';
import {
  compactAgain,
  lifecycle,
  removeMessage,
  setConversation,
  type Lifecycle,
} from '#test/support/chat/lifecycle.ts';

const items: readonly KnownItem[] = [
  ['The trip begins in Lisbon.', 1],
  ['The hotel has a garden.', 3, 4],
];

/** A conversation whose snapshot lost a statement, so that its turns are to be read again. */
async function mended(world: Lifecycle): Promise<string> {
  const conversationId = await compactedTwice(world, items);
  await removeMessage(world, conversationId, 'message-3');
  return conversationId;
}

const lastAsked = ({ bench }: Lifecycle) => JSON.stringify(bench.model.calls.at(-1)?.contents);

describe('a compaction after an erasure', () => {
  test('a compaction after an erasure starts from clean turns, as far as the previous one', async () => {
    const world = lifecycle();
    const conversationId = await mended(world);
    const before = await see(world.store, conversationId);

    await compactOnce(world.bench, conversationId);

    expect(lastAsked(world)).toContain('Question 1:');
    expect(lastAsked(world)).not.toContain('The trip begins in Lisbon.');
    const { conversation, history } = await see(world.store, conversationId);
    expect(conversation.coveredThrough.seq).toBeGreaterThanOrEqual(
      before.conversation.coveredThrough.seq,
    );
    expect(history).toMatchObject({ state: 'COMPACTED', from: 1 });
  });

  test('a compaction after an erasure continues from the remaining items when turns are too many', async () => {
    const world = lifecycle();
    const conversationId = await mended(world);
    await setConversation(world, conversationId, {
      settings: { thresholdTokens: 1_000, windowTokens: 4_000 },
    });
    const before = world.bench.model.calls.length;

    await compactAgain(world, conversationId, 12);

    const asked = JSON.stringify(world.bench.model.calls.slice(before));
    expect(asked).toContain('More 0.');
    expect(asked).toContain('The trip begins in Lisbon.');
    expect(asked).not.toContain('Question 1:');
    const { history } = await see(world.store, conversationId);
    expect(history).toMatchObject({ state: 'COMPACTED', generation: 4 });
  });

  test('a compaction after an erasure keeps the snapshot while no model may be called', async () => {
    const world = lifecycle();
    const conversationId = await mended(world);
    // As a turn leaves it that was answered from what is left.
    await setConversation(world, conversationId, { 'context.tokens': 600 });
    const before = await see(world.store, conversationId);
    await world.store.commit([
      {
        op: 'update',
        path: compactionJobPath(conversationId),
        fields: {
          brake: {
            failures: 3,
            pause: {
              reason: 'BREAKER_OPEN',
              until: new Date(world.bench.clock.now().getTime() + 60_000),
            },
          },
        },
        guard: { exists: true },
      },
    ]);

    await compactOnce(world.bench, conversationId);

    const { conversation, history, job } = await see(world.store, conversationId);
    expect(job?.records.at(-1)).toMatchObject({ state: 'NOOP', reason: 'BREAKER_OPEN' });
    expect(conversation.compactionRequests).toEqual({});
    expect(history).toEqual(before.history);
  });
});
