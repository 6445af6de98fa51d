import { describe, expect, test } from 'vitest';
import { statusPath } from '#shared/conversation/documents/paths.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

describe('COMPACTED', () => {
  test('a compaction replaces the oldest turns by a snapshot and keeps the newest verbatim', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    const { conversation, items, text } = await see(bench.store, conversationId);
    expect(result).toEqual({ kind: 'done', state: 'COMPACTED', reason: undefined });
    expect(conversation.generation).toBe(1);
    expect(conversation.coveredThrough.seq).toBeGreaterThan(10);
    expect(items.slice(0, 2).map(({ kind }) => kind)).toEqual(['snapshot', 'ack']);
    expect(items[2]?.seq).toBe(conversation.coveredThrough.seq + 1);
    expect(text).toContain('trip to Busan');
    expect(text).toContain('Question 20:');
    expect(text).not.toContain('Question 1:');
  });

  test('a compaction removes the request, records the attempt and releases the lease', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(conversation.compactionRequests).toEqual({});
    expect(job).toMatchObject({ owner: '', fence: 1, brake: { failures: 0 } });
    expect(job?.records).toMatchObject([
      { requestId: 'request-1', state: 'COMPACTED', generation: 1, modelCalls: 1 },
    ]);
  });

  test('a compaction updates the owner’s status document', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const [status] = await bench.store.get([statusPath(conversationId)]);
    expect(status?.fields).toMatchObject({
      generation: 1,
      source: 'counted',
      compaction: { state: 'COMPACTED', jobId: 'request-1', trigger: 'auto' },
    });
    expect(JSON.stringify(status?.fields).length).toBeLessThan(1_000);
  });

  test.each(['reported', 'estimated'] as const)(
    'a running compaction’s status says that the tokens are %s',
    async (source) => {
      const seen: unknown[] = [];
      const bench = compactionBench();
      const conversationId = await buildDue(bench, {
        conversation: {
          settings: { thresholdTokens: 1_000 },
          compactionRequests: autoRequest(),
          context: {
            tokens: 3_000,
            overheadTokens: 0,
            calibration: 1,
            source,
            generation: 0,
            seq: 20,
          },
        },
      });
      const watched = compactionBench({
        ...bench,
        atCrashPoint: async (name) => {
          const [status] = await bench.store.get([statusPath(conversationId)]);
          if (name === 'claimed') seen.push(status?.fields['source']);
        },
      });

      await compactOnce(watched, conversationId);

      expect(seen).toEqual([source]);
    },
  );

  test('a compaction passes a manual request’s focus to the summariser', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      conversation: { compactionRequests: manualRequest('compress-17', 'the hotel prices') },
    });

    await compactOnce(bench, conversationId);

    expect(JSON.stringify(bench.model.calls[0]?.contents)).toContain('the hotel prices');
    expect(bench.model.calls[0]?.promptId).toBe('compress-17');
  });

  test('a compaction silently folds failed turns, which were never in the context', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      turns: Array.from({ length: 20 }, (_, index) =>
        index === 2 ? { user: 'A question that failed.', state: 'failed' as const } : {},
      ),
    });

    await compactOnce(bench, conversationId);

    const { conversation } = await see(bench.store, conversationId);
    expect(conversation.coveredThrough.seq).toBeGreaterThan(3);
    expect(JSON.stringify(bench.model.calls[0]?.contents)).not.toContain('that failed');
  });
});
