import { describe, expect, test } from 'vitest';
import { parseConfig } from '#functions/config.ts';
import {
  createScriptedModel,
  snapshotAnswer,
  type ScriptedAnswer,
} from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { afterShutdown } from '#test/support/retired-models.ts';

function bench(
  environment: Record<string, string>,
  answers: ScriptedAnswer[] = [snapshotAnswer()],
) {
  const { config, warned } = afterShutdown(
    parseConfig({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      PUBSUB_EMULATOR_HOST: 'localhost:1',
      ...environment,
    }),
  );
  return { ...compactionBench({ config, model: createScriptedModel({ answers }) }), warned };
}

describe('a compaction by a retired model', () => {
  test('a compaction by a conversation’s retired model calls its successor', async () => {
    const worker = bench({});
    const id = await buildDue(worker, {
      conversation: { settings: { thresholdTokens: 1_000 }, model: 'gemini-2.5-flash' },
    });

    await compactOnce(worker, id);

    const { conversation, history } = await see(worker.store, id);
    expect(history?.model).toBe('gemini-3.5-flash-lite');
    expect(conversation.model).toBe('gemini-2.5-flash');
    expect(worker.warned).toMatchObject([
      { severity: 'WARNING', event: 'model_retired', fields: { model: 'gemini-2.5-flash' } },
    ]);
  });

  test('a compaction by the deployment’s retired model calls its successor', async () => {
    const worker = bench({ COMPRESSOR_MODEL: 'gemini-3-pro-preview' });
    const id = await buildDue(worker, {
      conversation: { settings: { thresholdTokens: 1_000 }, model: 'house-model' },
    });

    await compactOnce(worker, id);

    expect((await see(worker.store, id)).history?.model).toBe('gemini-3.1-pro-preview');
  });
});
