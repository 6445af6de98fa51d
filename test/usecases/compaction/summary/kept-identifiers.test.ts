import { z } from 'zod';
import { describe, expect, test } from 'vitest';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import {
  buildDue,
  compactOnce,
  manualNeed,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import { rewriteBench } from '#test/support/compaction/compaction-dependencies.ts';
import {
  addTurn,
  madeUpAnswer,
  madeUpQuestion,
} from '#test/support/compaction/conversation-builder.ts';

describe('COMPACTED', () => {
  test('a compaction appends an order number that the summary forgot', async () => {
    const bench = rewriteBench();
    const conversationId = await buildDue(bench, {
      turns: [
        { user: 'My order is AB-778812, please remember it.' },
        ...Array.from({ length: 19 }, () => ({})),
      ],
    });

    await compactOnce(bench, conversationId);

    const { history, text } = await see(bench.store, conversationId);
    expect(text).toContain('AB-778812');
    expect(history?.report['appendedIdentifiers']).toContain('AB-778812');
  });

  test('a second compaction keeps an order number that both summaries forgot', async () => {
    const bench = rewriteBench();
    const conversationId = await buildDue(bench, {
      turns: [{ user: 'My order is AB-778812.' }, ...Array.from({ length: 19 }, () => ({}))],
      conversation: { settings: { thresholdTokens: 1_000 }, compactionNeeded: manualNeed('m-1') },
    });
    await compactOnce(bench, conversationId);
    for (let seq = 21; seq <= 30; seq++)
      await addTurn(bench.store, conversationId, {
        user: madeUpQuestion(seq),
        answer: madeUpAnswer(seq),
      });
    await bench.store.commit([
      {
        op: 'update',
        path: `conversations/${conversationId}`,
        fields: { 'compactionNeeded.manual': { requestId: 'm-2', since: new Date(0) } },
        guard: { exists: true },
      },
    ]);

    await compactOnce(bench, conversationId);

    const { conversation, text } = await see(bench.store, conversationId);
    expect(conversation.generation).toBe(2);
    expect(text).toContain('AB-778812');
  });

  test('a compaction calls once more when more identifiers are missing than fit quotes', async () => {
    const orders = Array.from({ length: 20 }, (_, index) => `ORD-${81_000 + index}`);
    const whole = snapshotAnswer(orders.join(', '));
    const model = createScriptedModel({ answers: [snapshotAnswer(), snapshotAnswer(), whole] });
    const bench = rewriteBench({ model });
    const conversationId = await buildDue(bench, {
      turns: orders.map((order, index) => ({ user: `${order}: ${madeUpQuestion(index)}` })),
    });

    await compactOnce(bench, conversationId);

    const { text } = await see(bench.store, conversationId);
    expect(model.calls.map(({ promptId }) => promptId)[2]).toBe('request-1-repair');
    expect(JSON.stringify(model.calls[2]?.contents)).toContain('<identifier>ORD-81000<');
    expect(orders.filter((order) => !text.includes(order))).toEqual([]);
  });

  test('a compaction lists identifiers that the model omits even when told', async () => {
    const orders = Array.from({ length: 20 }, (_, index) => `ORD-${81_000 + index}`);
    const bench = rewriteBench();
    const conversationId = await buildDue(bench, {
      turns: orders.map((order, index) => ({ user: `${order}: ${madeUpQuestion(index)}` })),
    });

    const result = await compactOnce(bench, conversationId);

    const { text } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(orders.filter((order) => !text.includes(order))).toEqual([]);
  });

  test('a compaction with too many missing identifiers swaps and reports which', async () => {
    const bench = rewriteBench();
    const list = Array.from({ length: 400 }, (_, index) => `ORD-${81_000 + index}`).join(' ');
    const conversationId = await buildDue(bench, { turns: [{ user: list }, {}, {}, {}, {}] });

    const result = await compactOnce(bench, conversationId);

    const { history, text } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ state: 'COMPACTED' });
    const reported = z.array(z.string()).parse(history?.report['missingIdentifiers']);
    expect(reported.length).toBeGreaterThan(0);
    const unreported = list.split(' ').filter((order) => !reported.includes(order));
    expect(unreported.filter((order) => !text.includes(order))).toEqual([]);
  });
});
