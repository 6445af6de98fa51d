import { describe, expect, test } from 'vitest';
import { findPrice } from '#shared/models/find-price.ts';
import { verifiedModels } from '#test/support/verified-models.ts';
import { parseConfig } from '#functions/config.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import {
  actingAt,
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { addTurn } from '#test/support/compaction/conversation-builder.ts';

const benchWith = (prices: object) =>
  compactionBench({
    config: parseConfig({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      PUBSUB_EMULATOR_HOST: 'localhost:1',
      MODEL_PRICES: JSON.stringify(prices),
    }),
  });

const swappedEvent = (bench: CompactionBench) =>
  bench.published.find(({ data }) => JSON.stringify(data).includes('compaction.swapped'))?.data;

describe('what a compaction cost', () => {
  test('a compaction’s cost is in its history, record, event and log line', async () => {
    // Whichever model summarises; the scripted one takes 100 prompt and 50 answer tokens a call.
    const free = { input: 2, cached: 0, output: 4 };
    const bench = benchWith({ 'gemini-2.5-flash': free, 'gemini-3.1-pro': free });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { history, job } = await see(bench.store, conversationId);
    const costMicros = (history?.modelCalls ?? 0) * (100 * 2 + 50 * 4);
    expect(costMicros).toBeGreaterThan(0);
    expect(history).toMatchObject({ costMicros });
    expect(job?.records).toMatchObject([{ costMicros }]);
    expect(swappedEvent(bench)).toMatchObject({ costMicros });
    const line = bench.logged.find(({ event }) => event === 'chat_compression');
    expect(line?.fields).toMatchObject({ costMicros });
  });

  test('a compaction’s cost is the highest price where the price is unknown', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      conversation: {
        settings: { thresholdTokens: 1_000 },
        model: 'house-model',
        compactionRequests: {
          auto: { requestId: 'request-1', since: new Date(0), trigger: 'auto' },
        },
      },
    });
    const known = compactionBench({
      ...bench,
      config: { ...bench.config, COMPRESSOR_MODEL: 'house-model' },
    });

    await compactOnce(known, conversationId);

    const { history } = await see(bench.store, conversationId);
    expect(history?.modelCalls).toBeGreaterThan(0);
    const dearest = findPrice('house-model', verifiedModels);
    const costMicros = (history?.modelCalls ?? 0) * (100 * dearest.input + 50 * dearest.output);
    expect(history).toMatchObject({ costMicros });
  });
});

test('a compaction reports how many turns came meanwhile', async () => {
  const base = compactionBench();
  let id = '';
  const bench = actingAt(base, 'before-swap', async () => {
    await addTurn(base.store, id, { user: 'Meanwhile?', answer: 'Yes.' });
    await addTurn(base.store, id, { user: 'And again?', answer: 'Yes.' });
  });
  id = await buildDue(bench);

  await compactOnce(bench, id);

  expect(swappedEvent(base)).toMatchObject({ turnsArrived: 2, strategy: 'ledger' });
});
