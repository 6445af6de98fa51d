import { describe, expect, test } from 'vitest';
import { setImmediate } from 'node:timers/promises';
import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { finishErasure } from '#functions/erasure/finish-erasure.ts';
import { blobsNamedBy } from '#shared/conversation/writes/erased-history.ts';
import { blobPiecePath } from '#shared/conversation/documents/paths.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  manualRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { overloaded } from '#test/support/model-down.ts';
import {
  longListings,
  longOutput,
  openBreaker,
  toolTurn,
} from '#test/support/tools/tool-conversation.ts';

describe('while the breaker is open', () => {
  test('an open breaker shortens long tool outputs without a model, as the next generation', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { turns: longListings(2) });
    await openBreaker(bench, conversationId);

    const result = await compactOnce(bench, conversationId);

    const { conversation, history, text } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'CONTENT_TRUNCATED' });
    expect(conversation).toMatchObject({
      generation: 1,
      coveredThrough: { seq: 0 },
      compactionRequests: {},
    });
    expect(history?.afterTokens).toBeLessThan(history?.beforeTokens ?? 0);
    expect(bench.model.calls).toHaveLength(0);
    expect(text).toContain('Show me listing 1.');
  });

  test('an output whose blob an erasure is about to delete stays whole', async () => {
    const bench = compactionBench();
    const same = toolTurn(1);
    const turns = [same, toolTurn(2), same, toolTurn(3)];
    // Less would be below the threshold once the message is gone.
    const words = Array.from({ length: 8 }, () => ({}));
    const conversationId = await buildDue(bench, { turns: [...turns, ...words] });
    const name = bench.sha256(longOutput(1));
    await bench.store.commit([
      {
        op: 'create',
        path: blobPiecePath(conversationId, { sha256: name, index: 0 }),
        fields: { text: longOutput(1) },
      },
    ]);
    await openBreaker(bench, conversationId);
    const dying = { ...bench, clock: { ...bench.clock, wait: () => setImmediate() } };
    const wiped = chatDependencies({
      store: bench.store,
      clock: dying.clock,
      atCrashPoint: (point) =>
        point === 'message-wiped' ? Promise.reject(new Error('died')) : Promise.resolve(),
    });
    const caller = { uid: 'u1', tier: 'signedIn' } as const;
    await expect(
      deleteMessage(wiped, { caller, conversationId, messageId: 'message-1' }),
    ).rejects.toThrow('died');
    const worker = compactionBench({
      ...bench,
      atCrashPoint: async (point) => {
        if (point === 'blobs-saved') await finishErasure(dying, conversationId);
      },
    });

    const result = await compactOnce(worker, conversationId);

    const { history } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ state: 'CONTENT_TRUNCATED' });
    expect(history?.masks).not.toEqual([]);
    const named = blobsNamedBy({ masks: history?.masks ?? [] }).map(({ name: sha256 }) => sha256);
    const blobs = await bench.store.get(
      named.map((sha256) => blobPiecePath(conversationId, { sha256, index: 0 })),
    );
    expect(blobs).not.toContain(undefined);
  });

  test('the full text of a shortened output is in its blob', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { turns: longListings(2) });
    await openBreaker(bench, conversationId);

    await compactOnce(bench, conversationId);

    const sha256 = bench.sha256(longOutput(1));
    const [blob] = await bench.store.get([blobPiecePath(conversationId, { sha256, index: 0 })]);
    expect(blob?.fields['text']).toBe(longOutput(1));
    expect((await see(bench.store, conversationId)).text).toContain(sha256);
  });

  test('an output whose blob cannot be stored stays whole', async () => {
    const first = compactionBench().sha256(longOutput(1));
    const store = createMemoryDocumentStore({
      beforeOperation: async (operation) => {
        await Promise.resolve();
        if (
          operation.name === 'commit' &&
          operation.writes.some(({ path }) => path.includes(first))
        )
          throw new StoreUnavailableError({ operation: 'commit' });
      },
    });
    const bench = compactionBench({ store });
    const conversationId = await buildDue(bench, { turns: longListings(2) });
    await openBreaker(bench, conversationId);

    await compactOnce(bench, conversationId);

    const { history, text } = await see(bench.store, conversationId);
    expect(history?.masks.every(({ seq }) => seq === 2)).toBe(true);
    expect(text).toContain('row 200 of listing 1:');
  });

  test('a context without long outputs is left alone below the hard threshold', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      conversation: { settings: { thresholdTokens: 2_000 }, compactionRequests: autoRequest() },
    });
    await openBreaker(bench, conversationId);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ kind: 'done', state: 'NOOP', reason: 'BREAKER_OPEN' });
    expect((await see(bench.store, conversationId)).conversation.generation).toBe(0);
  });

  test('a manual request calls the model despite an open breaker', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      conversation: { compactionRequests: manualRequest() },
    });
    await openBreaker(bench, conversationId);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    const { job } = await see(bench.store, conversationId);
    expect(job?.brake.failures).toBe(0);
    expect(job?.brake.pause).toBeUndefined();
  });

  test('the next generation’s meter counts the shortened outputs', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { turns: longListings(2) });
    await openBreaker(bench, conversationId);
    const before = await see(bench.store, conversationId);

    await compactOnce(bench, conversationId);

    const { tokens, history } = await see(bench.store, conversationId);
    expect(tokens).toBeLessThan(before.tokens / 2);
    expect(Math.abs(tokens - (history?.afterTokens ?? 0))).toBeLessThanOrEqual(10);
  });
});

test('the next request after three failures is served without the model', async () => {
  const bench = compactionBench({ model: createScriptedModel({ answers: [overloaded()] }) });
  const conversationId = await buildDue(bench, { turns: [...longListings(2), {}, {}, {}] });
  for (let attempt = 0; attempt < 3; attempt++) {
    await compactOnce(bench, conversationId);
    bench.clock.advance(120_000);
  }
  await bench.store.commit([
    {
      op: 'update',
      path: `conversations/${conversationId}`,
      fields: { compactionRequests: { auto: { ...autoRequest('request-2').auto } } },
      guard: { exists: true },
    },
  ]);

  const result = await compactOnce(bench, conversationId);

  expect(bench.model.calls).toHaveLength(3);
  expect(result).toMatchObject({ kind: 'done', state: 'CONTENT_TRUNCATED' });
});

test('a compaction shows the summariser full outputs and the next call shortened ones', async () => {
  const bench = compactionBench();
  const turns = [
    toolTurn(1),
    ...Array.from({ length: 60 }, () => ({})),
    toolTurn(62),
    toolTurn(63),
  ];
  const conversation = { settings: { thresholdTokens: 12_000 } };
  const conversationId = await buildDue(bench, { turns, conversation });

  const result = await compactOnce(bench, conversationId);

  const { history, text } = await see(bench.store, conversationId);
  expect(result).toMatchObject({ state: 'COMPACTED' });
  expect(JSON.stringify(bench.model.calls[0]?.contents)).toContain('row 200 of listing 1:');
  expect(history?.masks.length).toBeGreaterThan(0);
  expect(text).toContain('left out');
});
