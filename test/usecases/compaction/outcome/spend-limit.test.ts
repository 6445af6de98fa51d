import { describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { addTurn } from '#test/support/compaction/conversation-builder.ts';
import { writeJob } from '#test/support/compaction/past-compactions.ts';

const limitedBench = (limits: Record<string, string>) =>
  compactionBench({
    config: parseConfig({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      PUBSUB_EMULATOR_HOST: 'localhost:1',
      ...limits,
    }),
  });

const ask = (bench: CompactionBench, conversationId: string, needed: object) =>
  bench.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { compactionRequests: { ...needed } },
      guard: { exists: true },
    },
  ]);

const spent = ({ clock }: CompactionBench, runs: number, tokens: number) => ({
  failures: 0,
  spent: { hourSince: clock.now(), runs, daySince: clock.now(), tokens },
});

describe('a conversation that has spent what it may', () => {
  test('a conversation over its spending limit calls no model and says why', async () => {
    const bench = limitedBench({ COMPACTIONS_PER_HOUR: '2' });
    const conversationId = await buildDue(bench, { turns: 12 });
    await writeJob(bench.store, conversationId, { brake: spent(bench, 2, 20) });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ kind: 'done', state: 'NOOP', reason: 'SPEND_LIMIT' });
    expect(bench.model.calls).toHaveLength(0);
  });

  test('a conversation over its spending limit is folded by code at the hard threshold', async () => {
    const bench = limitedBench({ COMPACTION_DAILY_TOKENS: '1000' });
    const conversationId = await buildDue(bench);
    await writeJob(bench.store, conversationId, { brake: spent(bench, 1, 1_000) });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(bench.model.calls).toHaveLength(0);
  });

  test('a conversation over its spending limit settles a waiting manual request as NOOP', async () => {
    const bench = limitedBench({ COMPACTIONS_PER_HOUR: '2' });
    const conversationId = await buildDue(bench, {
      conversation: { compactionRequests: manualRequest() },
    });
    await writeJob(bench.store, conversationId, { brake: spent(bench, 2, 20) });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'SPEND_LIMIT' });
    expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
  });

  test('a conversation over its spending limit may call a model an hour later', async () => {
    const bench = limitedBench({ COMPACTIONS_PER_HOUR: '2' });
    const conversationId = await buildDue(bench);
    await writeJob(bench.store, conversationId, { brake: spent(bench, 2, 20) });
    bench.clock.advance(60 * 60_000);

    await compactOnce(bench, conversationId);

    expect(bench.model.calls.length).toBeGreaterThan(0);
  });

  test('a compaction run’s tokens are recorded and count for the limits', async () => {
    const bench = limitedBench({ COMPACTIONS_PER_HOUR: '2' });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { job, history } = await see(bench.store, conversationId);
    const { promptTokens = 0, outputTokens = 0 } = history?.usage ?? {};
    expect(promptTokens).toBeGreaterThan(0);
    expect(job?.records).toMatchObject([{ tokens: { promptTokens, outputTokens } }]);
    expect(job?.brake).toEqual(spent(bench, 1, promptTokens + outputTokens));
  });

  test('a sender who fills the context with every message cannot force a compaction a turn', async () => {
    const bench = limitedBench({ COMPACTIONS_PER_HOUR: '6' });
    const conversationId = await buildDue(bench, { turns: 2 });
    const TURNS = 40;

    for (let turn = 1; turn <= TURNS; turn++) {
      await addTurn(bench.store, conversationId, {
        user: `Message ${turn}: `.concat('one more word that fills the context '.repeat(60)),
        answer: 'Noted.',
      });
      await ask(bench, conversationId, autoRequest(`request-${turn}`));
      await compactOnce(bench, conversationId);
      bench.clock.advance(60_000);
    }

    const { job, conversation } = await see(bench.store, conversationId);
    expect(job?.brake.spent?.runs).toBe(6);
    expect(conversation.generation).toBeGreaterThan(6);
  });
});
