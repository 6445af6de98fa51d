import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { findPrice } from '#shared/models/find-price.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import {
  buildDue,
  compactOnce,
  see,
  type CompactionBench,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { configOf } from '#test/support/chat/lifecycle.ts';
import { fixedPolicy } from '#test/support/fixed-policy.ts';
import { modelDown } from '#test/support/model-down.ts';
import { verifiedModels } from '#test/support/verified-models.ts';

const lineOf = ({ logged }: CompactionBench) =>
  logged.filter(({ event }) => event === 'chat_compression').map(({ fields }) => fields);
const dataOf = ({ published }: CompactionBench) => published.map(({ data }) => data);

describe('what is told of a compaction', () => {
  test('every attempt has one log line, without message text, and events in order', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const usage = { promptTokens: 100, outputTokens: 50 };
    expect(lineOf(bench)).toMatchObject([{ status: 'COMPACTED', trigger: 'auto', ...usage }]);
    expect(dataOf(bench)).toMatchObject([
      { type: 'compaction.started', conversationId, requestId: 'request-1' },
      { type: 'compaction.verified', conversationId, state: 'VERIFYING', calls: 1 },
      { type: 'compaction.swapped', conversationId, generation: 1, calls: 1, lagMs: 5_000 },
    ]);
    expect(JSON.stringify(bench.logged)).not.toMatch(/Question|Answer|Busan/);
  });

  test('a failure is told only once it is stored', async () => {
    const memory = createMemoryDocumentStore();
    const commit: DocumentStore['commit'] = async (writes) => {
      await setTimeout(20);
      return memory.commit(writes);
    };
    const storedRecords: unknown[] = [];
    const publish: CompactionBench['publisher']['publish'] = async ({ data }) => {
      if (!JSON.stringify(data).includes('compaction.failed')) return;
      const [job] = await memory.get([compactionJobPath(conversationId)]);
      storedRecords.push(job?.fields['records']);
    };
    const bench = compactionBench({
      store: { ...memory, commit },
      publisher: { publish },
      model: createScriptedModel({ answers: [''] }),
    });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    expect(storedRecords).toMatchObject([[{ state: 'FAILED_EMPTY_SUMMARY' }]]);
  });

  test('an unavailable event topic does not fail a compaction', async () => {
    const bench = compactionBench({ publisher: { publish: () => Promise.reject(modelDown()) } });

    expect(await compactOnce(bench, await buildDue(bench))).toMatchObject({ state: 'COMPACTED' });
  });

  test('a defect is logged with its code location and without message text', async () => {
    const defect = new Error('cannot read this:\n    at home I keep the key under the mat');
    const bench = compactionBench({ model: createScriptedModel({ answers: [defect] }) });

    await compactOnce(bench, await buildDue(bench));

    const line = bench.logged.find(({ event }) => event === 'compaction_defect');
    expect(String(line?.fields['stack'])).toContain('reports.test.ts');
    expect(JSON.stringify(bench.logged)).not.toContain('under the mat');
  });

  test.each([
    ['is known', 'gemini-2.5-flash', 100 * 2 + 50 * 4],
    ['is unknown: the highest', 'house-model', undefined],
  ])(
    'a compaction’s cost is in history, record, event and log line: its price %s',
    async (...row) => {
      const [, model, known] = row;
      const prices = { 'gemini-2.5-flash': { input: 2, cached: 0, output: 4 } };
      const config = configOf('ledger', { MODEL_PRICES: JSON.stringify(prices) });
      const bench = compactionBench({ config: { ...config, COMPRESSOR_MODEL: model } });
      const id = await buildDue(bench);

      await compactOnce(bench, id);

      const highest = findPrice(model, verifiedModels);
      const costMicros = known ?? 100 * highest.input + 50 * highest.output;
      const { history, job } = await see(bench.store, id);
      expect(history).toMatchObject({ modelCalls: 1, costMicros });
      expect(job?.records).toMatchObject([{ costMicros }]);
      expect(dataOf(bench).at(-1)).toMatchObject({ costMicros });
      expect(lineOf(bench)).toMatchObject([{ costMicros }]);
    },
  );
});

const variants = {
  peer: { share: 1, strategy: 'gemini-cli' },
  large: { share: 1, thresholdTokens: 20_000 },
};
const benchOf = (name: keyof typeof variants) => {
  const { config } = compactionBench();
  const remotePolicy = fixedPolicy({ variants: { [name]: variants[name] } });
  return compactionBench({ config: { ...config, remotePolicy } });
};

test('a conversation of a variant is compacted by its strategy and reports its name', async () => {
  const bench = benchOf('peer');
  const conversationId = await buildDue(bench);

  await compactOnce(bench, conversationId);

  const { history, job } = await see(bench.store, conversationId);
  expect(history).toMatchObject({ strategy: 'gemini-cli', variant: 'peer' });
  expect(job?.records).toMatchObject([{ variant: 'peer' }]);
  expect(dataOf(bench).at(-1)).toMatchObject({ variant: 'peer', strategy: 'gemini-cli' });
  expect(lineOf(bench)).toMatchObject([{ variant: 'peer' }]);
});
