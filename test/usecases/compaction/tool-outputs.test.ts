import { deleteMessage } from '#functions/chat/conversations/erase/delete-message.ts';
import { finishErasure } from '#functions/erasure/finish-erasure.ts';
import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { blobPiecePath } from '#shared/conversation/documents/paths.ts';
import { blobsNamedBy } from '#shared/conversation/writes/erased-history.ts';
import { StoreUnavailableError } from '#shared/errors.ts';
import { estimatePartTokens } from '#shared/tokens/token-estimate.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import { chatDependencies } from '#test/support/chat/chat-dependencies.ts';
import { dyingAt, needAgain } from '#test/support/chat/lifecycle.ts';
import {
  buildDue,
  compactOnce,
  see,
  type CompactionBench,
  actingAt,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import type { ConversationToBuild } from '#test/support/compaction/conversation-builder.ts';
import { overloaded } from '#test/support/model-down.ts';
import {
  longListings,
  longOutput,
  openBreaker,
  toolTurn,
} from '#test/support/tools/tool-conversation.ts';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';

const blobOf = async ({ store, sha256 }: CompactionBench, id: string, output: string) =>
  (await store.get([blobPiecePath(id, { sha256: sha256(output), index: 0 })]))[0];

/** Compacts a conversation for which no model may be asked. */
async function shortened(
  options: Partial<ConversationToBuild> = { turns: longListings(2) },
  bench = compactionBench(),
) {
  const conversationId = await buildDue(bench, options);
  await openBreaker(bench, conversationId);
  const before = await see(bench.store, conversationId);
  const result = await compactOnce(bench, conversationId);
  return { bench, conversationId, before, result, ...(await see(bench.store, conversationId)) };
}

describe('tool outputs while no model may be asked', () => {
  test('an open breaker shortens long tool outputs without a model, as the next generation', async () => {
    const { bench, before, result, conversation, history, text, tokens } = await shortened();

    expect(result).toMatchObject({ kind: 'done', state: 'CONTENT_TRUNCATED' });
    expect(conversation).toMatchObject({
      generation: 1,
      coveredThrough: { seq: 0 },
      compactionRequests: {},
    });
    expect(bench.model.calls).toHaveLength(0);
    expect(text).toContain('Show me listing 1.');
    expect(tokens).toBeLessThan(before.tokens / 2);
    expect(Math.abs(tokens - (history?.afterTokens ?? 0))).toBeLessThanOrEqual(10);
  });

  test('the full text of a shortened output is in its blob', async () => {
    const { bench, conversationId, text } = await shortened();

    const blob = await blobOf(bench, conversationId, longOutput(1));
    expect(blob?.fields['text']).toBe(longOutput(1));
    expect(text).toContain(bench.sha256(longOutput(1)));
  });

  test('an output whose blob cannot be stored stays whole', async () => {
    const first = compactionBench().sha256(longOutput(1));
    const store = createMemoryDocumentStore({
      beforeOperation: (operation) =>
        operation.name === 'commit' && operation.writes.some(({ path }) => path.includes(first))
          ? Promise.reject(new StoreUnavailableError({ operation: 'commit' }))
          : Promise.resolve(),
    });

    const { history, text } = await shortened(undefined, compactionBench({ store }));

    expect(history?.masks.every(({ seq }) => seq === 2)).toBe(true);
    expect(text).toContain('row 200 of listing 1:');
  });

  test('an output whose blob an erasure is about to delete stays whole', async () => {
    const bench = compactionBench();
    const same = toolTurn(1);
    // Less would be below the threshold once the message is gone.
    const words = Array.from({ length: 8 }, () => ({}));
    const turns = [same, toolTurn(2), same, toolTurn(3), ...words];
    const conversationId = await buildDue(bench, { turns });
    const path = blobPiecePath(conversationId, { sha256: bench.sha256(longOutput(1)), index: 0 });
    await bench.store.commit([{ op: 'create', path, fields: { text: longOutput(1) } }]);
    await openBreaker(bench, conversationId);
    const clock = { ...bench.clock, wait: () => setImmediate() };
    const wiped = chatDependencies({ store: bench.store, clock, ...dyingAt('message-wiped') });
    const caller = { uid: 'u1', tier: 'signedIn' } as const;
    await expect(
      deleteMessage(wiped, { caller, conversationId, messageId: 'message-1' }),
    ).rejects.toThrow('died');
    const worker = actingAt(bench, 'blobs-saved', () =>
      finishErasure({ ...bench, clock }, conversationId),
    );

    const result = await compactOnce(worker, conversationId);

    const { history } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ state: 'CONTENT_TRUNCATED' });
    expect(history?.masks).not.toEqual([]);
    const named = blobsNamedBy({ masks: history?.masks ?? [] });
    const blobs = await bench.store.get(
      named.map(({ name: sha256 }) => blobPiecePath(conversationId, { sha256, index: 0 })),
    );
    expect(blobs).not.toContain(undefined);
  });

  test('the next request after three failures is served without the model', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [overloaded()] }) });
    const conversationId = await buildDue(bench, { turns: [...longListings(2), {}, {}, {}] });
    for (let attempt = 0; attempt < 3; attempt++) {
      await compactOnce(bench, conversationId);
      bench.clock.advance(120_000);
    }
    await needAgain(bench, conversationId, 'request-2');

    const result = await compactOnce(bench, conversationId);

    expect(bench.model.calls).toHaveLength(3);
    expect(result).toMatchObject({ kind: 'done', state: 'CONTENT_TRUNCATED' });
  });

  test('more tool outputs than markers fit the budget: the newest whole, the named ones stored', async () => {
    const page = (seq: number) => `page ${seq}: ${'plain words of a page '.repeat(90)}`;
    const turns = Array.from({ length: 400 }, (_, index) => toolTurn(index + 1, page(index + 1)));
    const settings = { thresholdTokens: 100_000 };
    const { bench, conversationId, result, items, history, text } = await shortened({
      turns,
      conversation: { settings },
    });

    const parts = items.flatMap(({ content }) => content.parts);
    const outputs = parts.filter(({ functionResponse }) => functionResponse);
    const tokens = outputs.map((part) => estimatePartTokens(part, 'character-class'));
    expect(result).toMatchObject({ state: 'CONTENT_TRUNCATED' });
    expect(outputs).toHaveLength(400);
    expect(parts.filter(({ functionCall }) => functionCall)).toHaveLength(400);
    expect(tokens.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(
      settings.thresholdTokens / 6,
    );
    expect(outputs[0]?.functionResponse?.response).toEqual({ omitted: true });
    expect(outputs.at(-1)?.functionResponse?.response).toEqual({ output: page(400) });
    const stored = async (seq: number) => ({
      isStored: (await blobOf(bench, conversationId, page(seq))) !== undefined,
      isNamed: text.includes(bench.sha256(page(seq))),
    });
    const oldest = Math.min(...blobsNamedBy({ masks: history?.masks ?? [] }).map(({ seq }) => seq));
    expect(await stored(1)).toEqual({ isStored: false, isNamed: false });
    expect(await stored(oldest - 1)).toEqual({ isStored: false, isNamed: false });
    expect(await stored(oldest)).toEqual({ isStored: true, isNamed: true });
  });
});

test('a compaction shows the summariser full outputs and the next call shortened ones', async () => {
  const bench = compactionBench();
  const words = Array.from({ length: 60 }, () => ({}));
  const turns = [toolTurn(1), ...words, toolTurn(62), toolTurn(63)];
  const conversation = { settings: { thresholdTokens: 12_000 } };
  const conversationId = await buildDue(bench, { turns, conversation });

  const result = await compactOnce(bench, conversationId);

  const { history, text } = await see(bench.store, conversationId);
  expect(result).toMatchObject({ state: 'COMPACTED' });
  expect(JSON.stringify(bench.model.calls[0]?.contents)).toContain('row 200 of listing 1:');
  expect(history?.masks.length).toBeGreaterThan(0);
  expect(text).toContain('left out');
});
