import { describe, expect, test } from 'vitest';
import {
  buildDue,
  compactOnce,
  manualRequest,
  overflowRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

describe('a conversation that its newest turn fills', () => {
  const filled = {
    turns: [{ answer: 'word '.repeat(5_000) }],
    conversation: { settings: { windowTokens: 12_000 } },
  };

  test('a conversation filled by its newest turn is usable after an overflow compaction', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      ...filled,
      conversation: {
        ...filled.conversation,
        compactionRequests: overflowRequest(),
      },
    });
    const before = await see(bench.store, conversationId);

    const result = await compactOnce(bench, conversationId);

    const after = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(after.conversation.coveredThrough.seq).toBe(1);
    expect(after.items.map(({ kind }) => kind)).toEqual(['snapshot', 'ack']);
    expect(after.tokens).toBeLessThan(before.tokens / 2);
  });

  test('a manual compaction is a NOOP where the newest turn fills the conversation', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      ...filled,
      conversation: { ...filled.conversation, compactionRequests: manualRequest() },
    });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'NOTHING_TO_FOLD' });
  });
});
