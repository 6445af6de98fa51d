import { describe, expect, test } from 'vitest';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { fixedPolicy } from '#test/support/fixed-policy.ts';
import { modelDown } from '#test/support/model-down.ts';

describe('failures', () => {
  test('two blank summaries are FAILED_EMPTY_SUMMARY and change nothing', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [''] }) });
    const conversationId = await buildDue(bench);
    const before = await see(bench.store, conversationId);

    const result = await compactOnce(bench, conversationId);

    const after = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry' });
    expect(after.job?.records).toMatchObject([{ state: 'FAILED_EMPTY_SUMMARY' }]);
    expect(after.items).toEqual(before.items);
    expect(after.conversation.generation).toBe(0);
  });

  test('a summary that hit the token limit is refused', async () => {
    const cut = { parts: [{ text: snapshotAnswer() }], finishReason: 'MAX_TOKENS' };
    const bench = compactionBench({ model: createScriptedModel({ answers: [cut] }) });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(conversation.generation).toBe(0);
    expect(job?.records).toMatchObject([
      { state: 'FAILED_VERIFICATION', reason: 'SUMMARY_MAX_TOKENS' },
    ]);
  });

  test('an answer without a snapshot is FAILED_VERIFICATION', async () => {
    const bench = compactionBench({
      model: createScriptedModel({ answers: ['I cannot help with that request, sorry.'] }),
    });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { job } = await see(bench.store, conversationId);
    expect(job?.records).toMatchObject([
      { state: 'FAILED_VERIFICATION', reason: 'SUMMARY_UNREADABLE_NOT_JSON' },
    ]);
  });

  test('text in thoughts is not used as the summary', async () => {
    const thought = {
      parts: [{ text: snapshotAnswer(), thought: true }],
      finishReason: 'STOP',
    };
    const bench = compactionBench({ model: createScriptedModel({ answers: [thought] }) });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { job } = await see(bench.store, conversationId);
    expect(job?.records).toMatchObject([{ state: 'FAILED_EMPTY_SUMMARY' }]);
  });

  test('a context that would not shrink is FAILED_INFLATED_TOKEN_COUNT, settled at once', async () => {
    const model = createScriptedModel({
      answers: [snapshotAnswer()],
      count: () => Promise.resolve(4_000),
    });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'FAILED_INFLATED_TOKEN_COUNT' });
    expect(conversation).toMatchObject({ generation: 0, compactionRequests: {} });
    expect(job?.records).toMatchObject([{ beforeTokens: 4_000, afterTokens: 4_000 }]);
  });

  test('a context that cannot be counted is FAILED_TOKEN_COUNT_ERROR', async () => {
    const model = createScriptedModel({
      answers: [snapshotAnswer()],
      count: () => Promise.reject(modelDown()),
    });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench, {
      conversation: {
        compactionRequests: manualRequest(),
        context: {
          tokens: 3_000,
          overheadTokens: 0,
          calibration: Number.MAX_VALUE,
          source: 'reported',
          generation: 0,
          seq: 20,
        },
      },
    });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ kind: 'done', state: 'FAILED_TOKEN_COUNT_ERROR' });
  });

  test('a pause that is set longer than a date can be gives way to the usual one', async () => {
    const remotePolicy = fixedPolicy({
      breakerFailures: 1,
      breakerOpenMs: Number.MAX_SAFE_INTEGER,
    });
    const bench = compactionBench({ model: createScriptedModel({ answers: [''] }) });
    bench.config = { ...bench.config, remotePolicy };
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { job } = await see(bench.store, conversationId);
    const until = new Date(bench.clock.now().getTime() + 1_800_000);
    expect(job).toMatchObject({ owner: '', brake: { pause: { reason: 'BREAKER_OPEN', until } } });
  });

  test('an unavailable model keeps the compaction request and its retry time', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(result).toEqual({ kind: 'retry', retryAfterMs: 45_000, reason: 'MODEL_OVERLOADED' });
    expect(conversation.compactionRequests).toEqual(autoRequest());
    const until = new Date(bench.clock.now().getTime() + 45_000);
    expect(job).toMatchObject({
      owner: '',
      attempts: { auto: { count: 1 } },
      brake: { failures: 1, pause: { reason: 'RETRY_LATER', until } },
    });
  });

  test('a delivery before the back-off has passed calls no model', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ kind: 'later', reason: 'RETRY_LATER' });
    expect(bench.model.calls).toHaveLength(1);
  });

  test('the third failure settles the compaction request', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    for (let attempt = 0; attempt < 2; attempt++) {
      await compactOnce(bench, conversationId);
      bench.clock.advance(600_000);
    }

    const result = await compactOnce(bench, conversationId);

    const { conversation, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'FAILED_ERROR' });
    expect(conversation.compactionRequests).toEqual({});
    expect(job?.records).toHaveLength(3);
    expect(job?.brake.pause?.reason).toBe('BREAKER_OPEN');
  });

  test('the failure that opens the breaker is logged once', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    for (let attempt = 0; attempt < 3; attempt++) {
      await compactOnce(bench, conversationId);
      bench.clock.advance(600_000);
    }

    const opened = bench.logged.filter(({ event }) => event === 'compaction_breaker_opened');
    expect(opened.map(({ fields }) => fields)).toEqual([{ conversationId }]);
  });

  test('a manual request is settled by its first failure', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench, {
      conversation: { compactionRequests: manualRequest() },
    });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ kind: 'done', state: 'FAILED_ERROR' });
    expect((await see(bench.store, conversationId)).conversation.compactionRequests).toEqual({});
  });
});
