import { writeJob } from '#test/support/compaction/past-compactions.ts';
import { viewOfNextCall } from '#functions/context/next-call.ts';
import {
  buildDue,
  compactOnce,
  see,
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { toolTurn } from '#test/support/tools/tool-conversation.ts';
import { expect, test } from 'vitest';

const longListings = (turns: number) => Array.from({ length: turns }, (_, i) => toolTurn(i + 1));

/** As after three failures in a row: no model is asked for the next ten minutes. */
const openBreaker = (bench: Pick<CompactionBench, 'store' | 'clock'>, conversationId: string) =>
  writeJob(bench.store, conversationId, {
    fence: 3,
    requestId: 'earlier',
    brake: {
      failures: 3,
      pause: { reason: 'BREAKER_OPEN', until: new Date(bench.clock.now().getTime() + 600_000) },
    },
  });

test('with an open breaker a compaction asks no model and says what shorter tool outputs save', async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench, { turns: longListings(2) });
  await openBreaker(bench, conversationId);

  const result = await compactOnce(bench, conversationId);

  const { conversation, job } = await see(bench.store, conversationId);
  const record = job?.records.at(-1);
  expect(result).toMatchObject({ kind: 'done', state: 'CONTENT_TRUNCATED' });
  expect(conversation).toMatchObject({ generation: 0, compactionRequests: {} });
  expect(bench.model.calls).toHaveLength(0);
  expect(record?.afterTokens).toBeLessThan((record?.beforeTokens ?? 0) / 2);
});

test('a compaction shows the summariser full outputs and the next call shortened ones', async () => {
  const bench = compactionBench();
  const words = Array.from({ length: 60 }, () => ({}));
  const turns = [toolTurn(1), ...words, toolTurn(62), toolTurn(63)];
  const conversation = { settings: { thresholdTokens: 12_000 } };
  const conversationId = await buildDue(bench, { turns, conversation });

  const result = await compactOnce(bench, conversationId);

  const seen = await see(bench.store, conversationId);
  const { items } = viewOfNextCall(bench, { ...seen.conversation, ...seen });
  expect(result).toMatchObject({ state: 'COMPACTED' });
  expect(JSON.stringify(bench.model.calls[0]?.contents)).toContain('row 200 of listing 1:');
  expect(seen.text).not.toContain('left out');
  expect(JSON.stringify(items)).toContain('left out');
});
