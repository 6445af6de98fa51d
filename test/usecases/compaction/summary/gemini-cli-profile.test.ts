import { expect, test } from 'vitest';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

test('the gemini-cli profile summarises in two passes, whatever the deployment does otherwise', async () => {
  const bench = compactionBench({ model: createScriptedModel({ answers: [snapshotAnswer()] }) });
  const id = await buildDue(bench, {
    conversation: { profile: 'gemini-cli', settings: { thresholdTokens: 1_000 } },
  });

  await compactOnce(bench, id);

  expect(bench.config.SUMMARY_STRATEGY).toBe('ledger');
  expect(bench.model.calls.map(({ promptId }) => promptId)).toEqual([
    'request-1',
    'request-1-verify',
  ]);
});
