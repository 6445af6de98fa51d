import { expect, test } from 'vitest';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';

/** A person asks for a compaction. */
const ask = (bench: CompactionBench, conversationId: string, requestId: string) =>
  bench.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { 'compactionRequests.manual': { requestId, since: new Date(0) } },
      guard: { exists: true },
    },
  ]);

test('three tries are not counted afresh after a manual compaction in between', async () => {
  const bench = compactionBench({
    model: createScriptedModel({ answers: [new StoreUnavailableError({ operation: 'x' })] }),
  });
  const conversationId = await buildDue(bench);
  for (const requestId of ['m-1', 'm-2', 'm-3']) {
    await compactOnce(bench, conversationId);
    bench.clock.advance(31 * 60_000);
    await ask(bench, conversationId, requestId);
    await compactOnce(bench, conversationId);
  }

  const { conversation, job } = await see(bench.store, conversationId);
  expect(conversation.compactionRequests).toEqual({});
  expect(job?.records.filter(({ requestId }) => requestId === 'request-1')).toHaveLength(3);
});
