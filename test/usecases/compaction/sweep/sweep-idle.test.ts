import { describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { CompactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import {
  autoRequest,
  compactOnce,
  manualRequest,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  storedConversation,
  inSeconds,
  sweep,
  sweepBench,
} from '#test/support/compaction/sweeping.ts';

const config = (environment: Record<string, string> = {}) =>
  parseConfig({
    GOOGLE_CLOUD_PROJECT: 'demo-recap',
    PUBSUB_EMULATOR_HOST: 'localhost:1',
    IDLE_COMPACTION: 'on',
    ...environment,
  });

const idleBench = (environment: Record<string, string> = {}) =>
  sweepBench({ config: config(environment) });

/** A conversation of 150 turns and 20,000 tokens that was used last 16 minutes ago. */
async function buildIdle(
  bench: CompactionBench,
  conversation: Partial<Conversation> = {},
  context: Partial<Conversation['context']> = {},
): Promise<string> {
  const { conversationId } = await buildConversation(bench.store, {
    turns: 150,
    now: inSeconds(bench, -16 * 60),
    conversation: {
      context: {
        tokens: 20_000,
        overheadTokens: 0,
        calibration: 1,
        source: 'reported',
        generation: 0,
        seq: 150,
        ...context,
      },
      ...conversation,
    },
  });
  return conversationId;
}

describe('a conversation that nobody uses', () => {
  test('an idle conversation is compacted before its threshold', async () => {
    const bench = idleBench();
    const conversationId = await buildIdle(bench);

    const counts = await sweep(bench);

    const need = (await storedConversation(bench, conversationId))?.compactionRequests.auto;
    expect(counts).toMatchObject({ idleRequested: 1, failed: 0 });
    expect(need).toMatchObject({ trigger: 'idle' });
    expect(bench.published.filter(({ topic }) => topic === 'compaction')).toEqual([
      {
        topic: 'compaction',
        data: { schemaVersion: 1, conversationId, requestId: need?.requestId },
      },
    ]);
    expect(await compactOnce(bench, conversationId)).toMatchObject({ state: 'COMPACTED' });
  });

  test('an idle conversation’s compaction is requested once, by however many sweeps', async () => {
    const bench = idleBench();
    const conversationId = await buildIdle(bench);

    await sweep(bench);
    await compactOnce(bench, conversationId);
    bench.clock.advance(5 * 60_000);
    const later = await sweep(bench);
    bench.clock.advance(15 * 60_000);
    const muchLater = await sweep(bench);

    expect([later.idleRequested, muchLater.idleRequested]).toEqual([0, 0]);
  });

  test('an idle conversation is left alone unless the deployment enables it', async () => {
    const bench = sweepBench();
    await buildIdle(bench);

    expect((await sweep(bench)).idleRequested).toBe(0);
  });

  test.each<[string, Partial<Conversation>, Partial<Conversation['context']>]>([
    ['that is small', {}, { tokens: 15_999 }],
    ['that is small but for its system instruction', {}, { overheadTokens: 5_000 }],
    ['whose size is that before a swap', { generation: 1 }, {}],
    ['that is compacted by hand', { settings: { compaction: 'manual' } }, {}],
    ['that is never compacted', { settings: { compaction: 'off' } }, {}],
    ['without a threshold', { settings: { thresholdFraction: 1 } }, {}],
    ['that waits for a compaction', { compactionRequests: autoRequest() }, {}],
    ['whose user asked for one', { compactionRequests: manualRequest() }, {}],
    ['that was deleted', { state: 'deleted' }, {}],
    ['too young to pay for it', { lastSeq: 20 }, {}],
  ])('an idle conversation is left alone if it is one %s', async (_, conversation, context) => {
    const bench = idleBench();
    await buildIdle(bench, conversation, context);

    expect((await sweep(bench)).idleRequested).toBe(0);
  });

  test.each([
    ['not yet a quarter of an hour', -14 * 60],
    ['so long that two sweeps have seen it', -26 * 60],
  ])('an idle conversation is left alone when it was used last %s ago', async (_, seconds) => {
    const bench = idleBench();
    await buildIdle(bench, { updateTime: inSeconds(bench, seconds) });

    expect((await sweep(bench)).idleRequested).toBe(0);
  });

  test('an idle conversation is left alone when its user returns meanwhile', async () => {
    const bench = idleBench();
    const conversationId = await buildIdle(bench);
    const used: CompactionBench = {
      ...bench,
      store: {
        ...bench.store,
        query: async (query) => {
          const found = await bench.store.query(query);
          const path = conversationPath(conversationId);
          const fields = { title: `${found.length} found` };
          await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);
          return found;
        },
      },
    };

    const counts = await sweep(used);

    expect(counts).toMatchObject({ idleRequested: 0, failed: 0 });
    expect((await storedConversation(bench, conversationId))?.compactionRequests).toEqual({});
  });
});
