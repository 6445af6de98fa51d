import { describe, expect, test } from 'vitest';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { fixedPolicy } from '#test/support/fixed-policy.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

function benchWith(variants: object) {
  const { config } = compactionBench();
  return compactionBench({ config: { ...config, remotePolicy: fixedPolicy({ variants }) } });
}

describe('a conversation of a variant', () => {
  test('a conversation of a variant is compacted by its strategy and reports its name', async () => {
    const bench = benchWith({ peer: { share: 1, strategy: 'gemini-cli' } });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { history, job } = await see(bench.store, conversationId);
    expect(history).toMatchObject({ strategy: 'gemini-cli', variant: 'peer' });
    expect(job?.records).toMatchObject([{ variant: 'peer' }]);
    expect(bench.published.at(-1)?.data).toMatchObject({ variant: 'peer', strategy: 'gemini-cli' });
    const line = bench.logged.find(({ event }) => event === 'chat_compression');
    expect(line?.fields).toMatchObject({ variant: 'peer' });
  });

  test('a conversation of a variant has its threshold where it sets none itself', async () => {
    const bench = benchWith({ large: { share: 1, thresholdTokens: 20_000 } });
    const conversationId = await buildDue(bench, { conversation: { settings: {} } });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'BELOW_THRESHOLD' });
  });

  test('a conversation in the gemini-cli profile has no variant', async () => {
    const bench = benchWith({ large: { share: 1 } });
    const conversationId = await buildDue(bench, {
      conversation: { settings: { thresholdTokens: 1_000 }, profile: 'gemini-cli' },
    });

    await compactOnce(bench, conversationId);

    expect((await see(bench.store, conversationId)).history?.variant).toBeUndefined();
  });
});
