import { describe, expect, test } from 'vitest';
import { AppError } from '#shared/errors.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { buildDue, compactOnce, see } from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';

const refused = new AppError({
  status: 'INVALID_ARGUMENT',
  reason: 'MODEL_REFUSED_REQUEST',
  message: 'JSON mode is not enabled for this model',
  publicMessage: 'The model refused the request.',
});

describe('a summariser that does not answer under a schema', () => {
  test('a summariser without schema support is asked in Gemini CLI’s two passes instead', async () => {
    const model = createScriptedModel({
      answers: [
        ({ responseJsonSchema }) =>
          responseJsonSchema === undefined
            ? Promise.resolve(snapshotAnswer())
            : Promise.reject(refused),
      ],
    });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    const { history } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(history).toMatchObject({ strategy: 'gemini-cli', modelCalls: 3 });
    expect(bench.logged.map(({ event }) => event)).toContain('summariser_without_schema');
  });

  test('a summariser without schema support is not retried when it refuses text too', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [refused] }) });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'FAILED_ERROR', reason: 'MODEL_REFUSED_REQUEST' });
    expect((await see(bench.store, conversationId)).conversation.generation).toBe(0);
  });
});
