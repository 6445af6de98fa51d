import { z } from 'zod';
import { describe, expect, test } from 'vitest';
import { AppError } from '../../shared/errors.ts';
import { statusPath } from '../../shared/conversation/paths.ts';
import { madeUpQuestion } from '../support/conversation-builder.ts';
import { createScriptedModel, snapshotAnswer } from '../fakes/scripted-model.ts';
import { compactionBench } from '../support/compaction-dependencies.ts';
import {
  autoNeed,
  buildDue,
  compactOnce,
  manualNeed,
  overflowNeed,
  see,
} from '../support/compacted-conversation.ts';

const modelDown = () =>
  new AppError({
    status: 'UNAVAILABLE',
    reason: 'MODEL_OVERLOADED',
    message: 'the model is overloaded',
    publicMessage: 'Try again.',
    retryable: true,
    retryAfterMs: 45_000,
  });

describe('COMPACTED', () => {
  test('puts a snapshot in place of the oldest turns and keeps the newest verbatim', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    const { head, items, text } = await see(bench.store, conversationId);
    expect(result).toEqual({ kind: 'done', state: 'COMPACTED', reason: undefined });
    expect(head.generation).toBe(1);
    expect(head.coveredThrough.seq).toBeGreaterThan(10);
    expect(items.slice(0, 2).map(({ kind }) => kind)).toEqual(['snapshot', 'ack']);
    expect(items[2]?.seq).toBe(head.coveredThrough.seq + 1);
    expect(text).toContain('trip to Busan');
    expect(text).toContain('Question 20:');
    expect(text).not.toContain('Question 1:');
  });

  test('clears the need, records the attempt and gives the lease back', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { head, job } = await see(bench.store, conversationId);
    expect(head.compactionNeeded).toEqual({});
    expect(job).toMatchObject({ owner: '', fence: 1, attempts: 0, failures: 0, retryAt: null });
    expect(job?.records).toMatchObject([
      { requestId: 'request-1', state: 'COMPACTED', generation: 1, modelCalls: 2 },
    ]);
  });

  test('tells the owner in the status document', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const [status] = await bench.store.get([statusPath(conversationId)]);
    expect(status?.fields).toMatchObject({
      generation: 1,
      source: 'counted',
      compaction: { state: 'COMPACTED', jobId: 'request-1', trigger: 'auto' },
    });
    expect(JSON.stringify(status?.fields).length).toBeLessThan(1_000);
  });

  test.each(['reported', 'estimated'] as const)(
    'while it works the status says that the tokens are %s',
    async (source) => {
      const seen: unknown[] = [];
      const bench = compactionBench();
      const conversationId = await buildDue(bench, {
        head: {
          settings: { thresholdTokens: 1_000 },
          compactionNeeded: autoNeed(),
          context: {
            tokens: 3_000,
            overheadTokens: 0,
            calibration: 1,
            source,
            generation: 0,
            seq: 20,
          },
        },
      });
      const watched = compactionBench({
        ...bench,
        atCrashPoint: async (name) => {
          const [status] = await bench.store.get([statusPath(conversationId)]);
          if (name === 'claimed') seen.push(status?.fields['source']);
        },
      });

      await compactOnce(watched, conversationId);

      expect(seen).toEqual([source]);
    },
  );

  test('asks twice, as the compressor, with a fixed bound and the prompt ids of the request', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    expect(bench.model.calls).toMatchObject([
      { promptId: 'request-1', role: 'utility_compressor', maxOutputTokens: 32_768 },
      { promptId: 'request-1-verify', role: 'utility_compressor', maxOutputTokens: 32_768 },
    ]);
  });

  test('tells the next compaction that there is a snapshot and folds it in', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      head: { settings: { thresholdTokens: 1_000 }, compactionNeeded: manualNeed('m-1') },
    });
    await compactOnce(bench, conversationId);
    const head = await bench.store.get([`conversations/${conversationId}`]);
    await bench.store.commit([
      {
        op: 'update',
        path: `conversations/${conversationId}`,
        fields: { 'compactionNeeded.manual': { requestId: 'm-2', since: new Date(0) } },
        guard: { updateTime: head[0]?.updateTime ?? '' },
      },
    ]);

    await compactOnce(bench, conversationId);

    const { head: after, history } = await see(bench.store, conversationId);
    expect(after.generation).toBe(2);
    expect(history?.parent).toBe(1);
    const asked = JSON.stringify(bench.model.calls[2]?.contents);
    expect(asked).toContain('earlier snapshot. Integrate it');
    expect(asked).toContain('trip to Busan');
  });

  test('appends an order number that the summary forgot', async () => {
    const bench = compactionBench();
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

  test('keeps an order number through a second compaction whose summary forgot it too', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      turns: [{ user: 'My order is AB-778812.' }, ...Array.from({ length: 19 }, () => ({}))],
      head: { settings: { thresholdTokens: 1_000 }, compactionNeeded: manualNeed('m-1') },
    });
    await compactOnce(bench, conversationId);
    await bench.store.commit([
      {
        op: 'update',
        path: `conversations/${conversationId}`,
        fields: { 'compactionNeeded.manual': { requestId: 'm-2', since: new Date(0) } },
        guard: { exists: true },
      },
    ]);

    await compactOnce(bench, conversationId);

    const { head, text } = await see(bench.store, conversationId);
    expect(head.generation).toBe(2);
    expect(text).toContain('AB-778812');
  });

  test('asks once more when more identifiers are missing than code has room to quote', async () => {
    const orders = Array.from({ length: 20 }, (_, index) => `ORD-${81_000 + index}`);
    const whole = snapshotAnswer(orders.join(', '));
    const model = createScriptedModel({ answers: [snapshotAnswer(), snapshotAnswer(), whole] });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench, {
      turns: orders.map((order, index) => ({ user: `${order}: ${madeUpQuestion(index)}` })),
    });

    await compactOnce(bench, conversationId);

    const { text } = await see(bench.store, conversationId);
    expect(model.calls.map(({ promptId }) => promptId)[2]).toBe('request-1-repair');
    expect(JSON.stringify(model.calls[2]?.contents)).toContain('<identifier>ORD-81000<');
    expect(orders.filter((order) => !text.includes(order))).toEqual([]);
  });

  test('lists identifiers that the model leaves out even when it is told', async () => {
    const orders = Array.from({ length: 20 }, (_, index) => `ORD-${81_000 + index}`);
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      turns: orders.map((order, index) => ({ user: `${order}: ${madeUpQuestion(index)}` })),
    });

    const result = await compactOnce(bench, conversationId);

    const { text } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(orders.filter((order) => !text.includes(order))).toEqual([]);
  });

  test('swaps when more identifiers are missing than any snapshot holds, and reports which', async () => {
    const bench = compactionBench();
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

  test('drops a line with a number that nobody stated, and reports it', async () => {
    const wrong = 'The deposit is 7,350 won.';
    const answer = snapshotAnswer(`The user plans a trip.\n${wrong}`);
    const bench = compactionBench({ model: createScriptedModel({ answers: [answer] }) });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { history, text } = await see(bench.store, conversationId);
    expect(text).toContain('The user plans a trip.');
    expect(text).not.toContain('7,350');
    expect(history?.report).toMatchObject({ droppedLines: [wrong], droppedLineCount: 1 });
    expect(bench.model.calls).toHaveLength(2);
  });

  test('asks once more when too much was made up, names it, and takes the better answer', async () => {
    const invented = snapshotAnswer('Room 714.\nRoom 715.\nRoom 716.\nRoom 717.');
    const model = createScriptedModel({ answers: [invented, invented, snapshotAnswer()] });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(JSON.stringify(model.calls[2]?.contents)).toContain('<unsupported>714</unsupported>');
    expect((await see(bench.store, conversationId)).text).not.toContain('Room 71');
  });

  test('keeps the first summary when the second call fails', async () => {
    const model = createScriptedModel({ answers: [snapshotAnswer('First pass.'), modelDown()] });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { head, text } = await see(bench.store, conversationId);
    expect(head.generation).toBe(1);
    expect(text).toContain('First pass.');
  });

  test('falls back to a readable first summary when the second answer is blank', async () => {
    const model = createScriptedModel({ answers: [snapshotAnswer('First pass.'), ' '] });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    expect((await see(bench.store, conversationId)).text).toContain('First pass.');
  });

  test('estimates both sizes when the token counter fails', async () => {
    const model = createScriptedModel({
      answers: [snapshotAnswer()],
      count: () => Promise.reject(modelDown()),
    });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { history } = await see(bench.store, conversationId);
    expect(history?.report['tokensSource']).toBe('estimated');
    expect(history?.afterTokens).toBeLessThan(history?.beforeTokens ?? 0);
  });

  test('hands the focus of a manual request to the summariser', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      head: { compactionNeeded: manualNeed('compress-17', 'the hotel prices') },
    });

    await compactOnce(bench, conversationId);

    expect(JSON.stringify(bench.model.calls[0]?.contents)).toContain('the hotel prices');
    expect(bench.model.calls[0]?.promptId).toBe('compress-17');
  });

  test('folds failed turns silently: they were never in the context', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      turns: Array.from({ length: 20 }, (_, index) =>
        index === 2 ? { user: 'A question that failed.', state: 'failed' as const } : {},
      ),
    });

    await compactOnce(bench, conversationId);

    const { head } = await see(bench.store, conversationId);
    expect(head.coveredThrough.seq).toBeGreaterThan(3);
    expect(JSON.stringify(bench.model.calls[0]?.contents)).not.toContain('that failed');
  });
});

describe('a conversation that its newest turn fills', () => {
  const filled = {
    turns: [{ answer: 'word '.repeat(5_000) }],
    head: { settings: { windowTokens: 12_000 } },
  };

  test('is opened again by a compaction after an overflow', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      ...filled,
      head: {
        ...filled.head,
        compactionNeeded: overflowNeed(),
      },
    });
    const before = await see(bench.store, conversationId);

    const result = await compactOnce(bench, conversationId);

    const after = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(after.head.coveredThrough.seq).toBe(1);
    expect(after.items.map(({ kind }) => kind)).toEqual(['snapshot', 'ack']);
    expect(after.tokens).toBeLessThan(before.tokens / 2);
  });

  test('keeps that turn when a person compacts', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      ...filled,
      head: { ...filled.head, compactionNeeded: manualNeed() },
    });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'NOTHING_TO_FOLD' });
  });
});

describe('NOOP', () => {
  test('an empty conversation that a person compacts has nothing to fold', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      turns: 0,
      head: { compactionNeeded: manualNeed() },
    });

    const result = await compactOnce(bench, conversationId);

    const { head, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'NOOP', reason: 'NOTHING_TO_FOLD' });
    expect(head).toMatchObject({ generation: 0, compactionNeeded: {} });
    expect(job?.records).toMatchObject([{ state: 'NOOP', beforeTokens: 0, afterTokens: 0 }]);
  });

  test('a context that sank below the threshold is left alone without a model call', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { turns: 3 });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'BELOW_THRESHOLD' });
    expect(bench.model.calls).toHaveLength(0);
    expect((await see(bench.store, conversationId)).head.compactionNeeded).toEqual({});
  });

  test('a turn that no summariser window holds is recorded as too large, and opens no breaker', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, {
      turns: [{ answer: 'word '.repeat(8_000) }],
      head: {
        settings: { windowTokens: 8_000 },
        compactionNeeded: overflowNeed(),
      },
    });

    const result = await compactOnce(bench, conversationId);

    const { head, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'FAILED_ERROR', reason: 'TURN_TOO_LARGE' });
    expect(head).toMatchObject({ generation: 0, compactionNeeded: {} });
    expect(job).toMatchObject({
      failures: 0,
      records: [{ state: 'FAILED_ERROR', reason: 'TURN_TOO_LARGE', modelCalls: 0 }],
    });
  });

  test('a hook that vetoes ends the attempt before the model is called', async () => {
    const bench = compactionBench({
      hooks: {
        preCompact: [{ name: 'legal-hold', run: () => Promise.resolve({ veto: true }) }],
        postCompact: [],
      },
    });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'VETOED' });
    expect(bench.model.calls).toHaveLength(0);
  });
});

describe('failures', () => {
  test('two blank summaries are FAILED_EMPTY_SUMMARY and leave everything as it was', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [''] }) });
    const conversationId = await buildDue(bench);
    const before = await see(bench.store, conversationId);

    const result = await compactOnce(bench, conversationId);

    const after = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry' });
    expect(after.job?.records).toMatchObject([{ state: 'FAILED_EMPTY_SUMMARY' }]);
    expect(after.items).toEqual(before.items);
    expect(after.head.generation).toBe(0);
  });

  test('a summary that hit the token limit is refused', async () => {
    const cut = { parts: [{ text: snapshotAnswer() }], finishReason: 'MAX_TOKENS' };
    const bench = compactionBench({ model: createScriptedModel({ answers: [cut] }) });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { head, job } = await see(bench.store, conversationId);
    expect(head.generation).toBe(0);
    expect(job?.records).toMatchObject([
      { state: 'FAILED_VERIFICATION', reason: 'SUMMARY_MAX_TOKENS' },
    ]);
  });

  test('an answer that is no snapshot is FAILED_VERIFICATION', async () => {
    const bench = compactionBench({
      model: createScriptedModel({ answers: ['I cannot help with that request, sorry.'] }),
    });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { job } = await see(bench.store, conversationId);
    expect(job?.records).toMatchObject([
      { state: 'FAILED_VERIFICATION', reason: 'SUMMARY_UNREADABLE_noSnapshot' },
    ]);
  });

  test('text in thoughts is not the summary', async () => {
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

    const { head, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'FAILED_INFLATED_TOKEN_COUNT' });
    expect(head).toMatchObject({ generation: 0, compactionNeeded: {} });
    expect(job?.records).toMatchObject([{ beforeTokens: 4_000, afterTokens: 4_000 }]);
  });

  test('a context that cannot be counted is FAILED_TOKEN_COUNT_ERROR', async () => {
    const model = createScriptedModel({
      answers: [snapshotAnswer()],
      count: () => Promise.reject(modelDown()),
    });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench, {
      head: {
        compactionNeeded: manualNeed(),
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

  test('a model that is down keeps the need and asks to be called again when the model said', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    const { head, job } = await see(bench.store, conversationId);
    expect(result).toEqual({ kind: 'retry', retryAfterMs: 45_000, reason: 'MODEL_OVERLOADED' });
    expect(head.compactionNeeded).toEqual(autoNeed());
    expect(job).toMatchObject({ owner: '', attempts: 1, failures: 1 });
    expect(job?.retryAt?.getTime()).toBe(bench.clock.now().getTime() + 45_000);
  });

  test('a delivery before the back-off has passed calls no model', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    await compactOnce(bench, conversationId);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ kind: 'retry', reason: 'RETRY_LATER' });
    expect(bench.model.calls).toHaveLength(1);
  });

  test('the third failure settles the need, so that none is served for ever', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench);
    for (let attempt = 0; attempt < 2; attempt++) {
      await compactOnce(bench, conversationId);
      bench.clock.advance(600_000);
    }

    const result = await compactOnce(bench, conversationId);

    const { head, job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'FAILED_ERROR' });
    expect(head.compactionNeeded).toEqual({});
    expect(job?.records).toHaveLength(3);
    expect(job?.breakerOpenUntil).not.toBeNull();
  });

  test('a manual request is settled by its first failure', async () => {
    const bench = compactionBench({ model: createScriptedModel({ answers: [modelDown()] }) });
    const conversationId = await buildDue(bench, { head: { compactionNeeded: manualNeed() } });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ kind: 'done', state: 'FAILED_ERROR' });
    expect((await see(bench.store, conversationId)).head.compactionNeeded).toEqual({});
  });
});

describe('reports', () => {
  test('every attempt has one chat_compression line and tells the topic what happened', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const lines = bench.logged.filter(({ event }) => event === 'chat_compression');
    expect(lines).toHaveLength(1);
    expect(lines[0]?.fields).toMatchObject({ status: 'COMPACTED', trigger: 'auto' });
    expect(bench.published.map(({ data }) => data)).toMatchObject([
      { type: 'compaction.started', conversationId, requestId: 'request-1' },
      { type: 'compaction.swapped', conversationId, generation: 1, calls: 2, lagMs: 5_000 },
    ]);
  });

  test('a NOOP reports the same size before and after', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench, { turns: 3 });

    await compactOnce(bench, conversationId);

    const fields = bench.logged.find(({ event }) => event === 'chat_compression')?.fields;
    expect(fields?.['status']).toBe('NOOP');
    expect(fields?.['tokens_before']).toBe(fields?.['tokens_after']);
  });

  test('a topic that is down does not fail the work', async () => {
    const bench = compactionBench({ publisher: { publish: () => Promise.reject(modelDown()) } });
    const conversationId = await buildDue(bench);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
  });

  test('a defect is logged with its place and without a word of what was said', async () => {
    const bench = compactionBench({
      model: createScriptedModel({
        answers: [new Error('cannot read this:\n    at home I keep the key under the mat')],
      }),
    });
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const line = bench.logged.find(({ event }) => event === 'compaction_defect');
    expect(String(line?.fields['stack'])).toContain('outcomes.test.ts');
    expect(JSON.stringify(bench.logged)).not.toContain('under the mat');
  });

  test('no line of the log holds what was said', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    expect(JSON.stringify(bench.logged)).not.toMatch(/Question|Answer|Busan/);
  });
});
