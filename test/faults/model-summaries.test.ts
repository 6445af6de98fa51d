import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Fault } from '#infra/fake-gemini/server/faults.ts';
import { createScriptedModel, snapshotAnswer } from '../fakes/scripted-model.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { madeUpQuestion } from '../support/compaction/conversation-builder.ts';
import { startFaultStack } from '../support/processes/fault-stack.ts';

const stack = await startFaultStack({ modelWaitMs: 1_500 });
// The first call loads the SDK.
await stack.send(randomUUID(), 'Good morning.');
beforeEach(() => {
  stack.fakeGemini.clearFaults();
  stack.fakeGemini.clearJournal();
});
afterAll(() => stack.stop());

const summariser = { role: 'utility_compressor' };
const orders = Array.from({ length: 20 }, (_, index) => `ORD-${70_000 + index}`);
const orderTurns = orders.map((order, index) => ({
  user: `${order} goes to door ${index + 1}. ${madeUpQuestion(index + 1)}`,
}));

/** Over its threshold and below the hard one, from which prompts are shortened. */
const due = () =>
  buildDue(stack, {
    turns: orderTurns,
    conversation: {
      ownerUid: 'alice',
      settings: { thresholdTokens: 2_000 },
      compactionRequests: autoRequest(),
    },
  });

const counterDown: Fault = {
  kind: 'internal',
  match: { operation: 'countTokens' },
  times: 12,
};

const always = (fault: Fault): Fault => ({ ...fault, match: summariser, times: 12 });

interface Failure {
  name: string;
  fault: Fault;
  record: { state: string; reason?: string };
}

/** The call gives nothing that could be judged. */
const failed = (name: string, fault: Fault, reason = 'MODEL_OVERLOADED'): Failure => ({
  name,
  fault,
  record: { state: 'FAILED_ERROR', reason },
});

/** There is a summary, and it may not be used. */
const refused = (name: string, fault: Fault, reason: string): Failure => ({
  name,
  fault,
  record: { state: 'FAILED_VERIFICATION', reason: `SUMMARY_${reason}` },
});

const failures = [
  failed('429', { kind: 'quota' }, 'MODEL_QUOTA'),
  failed('silence', { kind: 'hang' }, 'MODEL_TIMEOUT'),
  failed('an answer that breaks off', { kind: 'halfEvent' }),
  {
    name: 'a candidate without parts',
    fault: { kind: 'emptyCandidates', shape: 'noParts' },
    record: { state: 'FAILED_EMPTY_SUMMARY' },
  } satisfies Failure,
  refused('MAX_TOKENS', { kind: 'maxTokens' }, 'MAX_TOKENS'),
  refused('a blocked prompt', { kind: 'blockedPrompt', reason: 'SAFETY' }, 'BLOCKED_SAFETY'),
];

test.each(failures)(
  'a summariser failure $name keeps context and request, delays no chat, and is made good by the next delivery',
  async ({ fault, record }) => {
    const id = await due();
    const before = await see(stack.store, id);
    stack.fakeGemini.queueFaults(always(fault));

    const first = await stack.compact(id);
    const between = await see(stack.store, id);
    const sent = await stack.send(id, 'Good evening.');
    const prompt = stack.lastPromptTexts().join();
    stack.fakeGemini.clearFaults();
    stack.clock.shift(120_000);
    const again = await stack.compact(id);

    const after = await see(stack.store, id);
    expect([first.kind, sent.http]).toEqual(['retry', 200]);
    expect(between.job?.records).toMatchObject([record]);
    expect(between.items).toEqual(before.items);
    expect(between.conversation).toMatchObject({
      generation: 0,
      compactionRequests: autoRequest(),
    });
    expect(orders.filter((order) => !prompt.includes(order))).toEqual([]);
    expect(again).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(after.conversation).toMatchObject({ generation: 1, compactionRequests: {} });
    expect(orders.filter((order) => !after.text.includes(order))).toEqual([]);
  },
);

test('a token counter that is down delays nothing: sizes are estimated and the swap is made', async () => {
  const id = await due();
  stack.fakeGemini.queueFaults(counterDown);

  const sent = await stack.send(id, 'Good evening.');
  const asked = stack.fakeGemini.journal().map(({ operation }) => operation);
  const result = await stack.compact(id);

  const { history } = await see(stack.store, id);
  expect(sent).toMatchObject({ http: 200 });
  // A send never counts.
  expect(asked).toEqual(['streamGenerateContent']);
  expect(result).toMatchObject({ state: 'COMPACTED' });
  expect(history?.report['tokensSource']).toBe('estimated');
});

test('a token counter that hangs is abandoned after ten seconds', async () => {
  const counting = Promise.withResolvers<void>();
  const model = createScriptedModel({
    answers: [snapshotAnswer()],
    count: () => {
      counting.resolve();
      return new Promise(() => undefined);
    },
  });
  const bench = compactionBench({ model });
  const id = await buildDue(bench);

  const running = compactOnce(bench, id);
  await counting.promise;
  bench.clock.advance(10_000);

  expect(await running).toMatchObject({ state: 'COMPACTED' });
  expect((await see(bench.store, id)).history?.report['tokensSource']).toBe('estimated');
});
