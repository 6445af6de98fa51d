import { describe, expect, test } from 'vitest';
import { workingItems } from '#shared/conversation/documents/snapshot.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  overflowRequest,
  see,
} from '#test/support/compaction/compacted-conversation.ts';
import {
  compactionBench,
  type CompactionBench,
} from '#test/support/compaction/compaction-dependencies.ts';
import { addTurn, madeUpQuestion } from '#test/support/compaction/conversation-builder.ts';
import { modelDown } from '#test/support/model-down.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { writeJob } from '#test/support/compaction/past-compactions.ts';

/** A model that answers nothing and counts nothing. */
const deadModel = () =>
  createScriptedModel({ answers: [modelDown()], count: () => Promise.reject(modelDown()) });

const stated = 'My membership number is KX-48213 and I never eat peanuts. Remember both, please.';

const openBreaker = ({ clock }: CompactionBench, failures: number) => ({
  failures,
  pause: { reason: 'BREAKER_OPEN' as const, until: new Date(clock.now().getTime() + 60_000) },
});

/** Over its threshold of 1,000 tokens with 8 turns, over the hard one of 2,000 with 20. */
async function buildWithOpenBreaker(bench: CompactionBench, turns: number): Promise<string> {
  const others = Array.from({ length: turns - 1 }, () => ({}));
  const conversationId = await buildDue(bench, { turns: [{ user: stated }, ...others] });
  await writeJob(bench.store, conversationId, { brake: openBreaker(bench, 3) });
  return conversationId;
}

async function askAgain(bench: CompactionBench, conversationId: string, requestId: string) {
  await bench.store.commit([
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { compactionRequests: { ...autoRequest(requestId) } },
      guard: { exists: true },
    },
  ]);
}

describe('while the breaker is open', () => {
  test('an open breaker lets a context over the hard threshold be folded by code', async () => {
    const bench = compactionBench({ model: deadModel() });
    const conversationId = await buildWithOpenBreaker(bench, 20);
    const before = await see(bench.store, conversationId);

    const result = await compactOnce(bench, conversationId);

    const after = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(after.history).toMatchObject({ strategy: 'fallback', model: '', modelCalls: 0 });
    expect(after.tokens).toBeLessThan(before.tokens / 2);
    expect(bench.model.calls).toHaveLength(0);
    expect(after.conversation.compactionRequests).toEqual({});
  });

  test('a fold by code keeps the newest of the user’s messages, word for word', async () => {
    const bench = compactionBench({ model: deadModel() });
    const conversationId = await buildWithOpenBreaker(bench, 20);

    await compactOnce(bench, conversationId);

    const { text, history } = await see(bench.store, conversationId);
    const newest = history?.coveredThrough.seq ?? 0;
    expect(text).toContain(`User: \\"${madeUpQuestion(newest)}\\"`);
    expect(history?.snapshot && workingItems(history.snapshot).length).toBeGreaterThan(1);
  });

  test('a fold by code leaves the breaker open', async () => {
    const bench = compactionBench({ model: deadModel() });
    const conversationId = await buildWithOpenBreaker(bench, 20);

    await compactOnce(bench, conversationId);

    const { job } = await see(bench.store, conversationId);
    expect(job?.brake).toEqual(openBreaker(bench, 3));
  });

  test('a context below the hard threshold waits for the model while the breaker is open', async () => {
    const bench = compactionBench({ model: deadModel() });
    const conversationId = await buildWithOpenBreaker(bench, 12);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'BREAKER_OPEN' });
    expect((await see(bench.store, conversationId)).conversation.generation).toBe(0);
  });

  test('an overflow is folded by code whatever the meter says', async () => {
    const bench = compactionBench({ model: deadModel() });
    const conversationId = await buildWithOpenBreaker(bench, 12);
    await bench.store.commit([
      {
        op: 'update',
        path: conversationPath(conversationId),
        fields: { compactionRequests: { ...overflowRequest() } },
        guard: { exists: true },
      },
    ]);

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'COMPACTED' });
  });

  test('a fold by code in the gemini-cli profile only shortens outputs, like Gemini CLI', async () => {
    const bench = compactionBench({ model: deadModel() });
    const conversationId = await buildDue(bench, {
      conversation: { settings: { thresholdTokens: 1_000 }, profile: 'gemini-cli' },
    });
    await writeJob(bench.store, conversationId, { brake: openBreaker(bench, 1) });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'BREAKER_OPEN' });
  });
});

test('a model that always fails does not prevent repeated compactions', async () => {
  const bench = compactionBench({ model: deadModel() });
  const conversationId = await buildDue(bench, { turns: [{ user: stated }] });
  let longest = 0;

  for (let round = 1; round <= 60; round++) {
    await addTurn(bench.store, conversationId, {
      user: `What is worth a visit on day ${round} of the trip?`,
      answer: `On day ${round} go to the harbour in the morning, when it is quiet. `.repeat(8),
    });
    await askAgain(bench, conversationId, `request-${round}`);
    await compactOnce(bench, conversationId);
    bench.clock.advance(10 * 60_000);
    longest = Math.max(longest, (await see(bench.store, conversationId)).tokens);
  }

  const { conversation, history } = await see(bench.store, conversationId);
  expect(conversation.generation).toBeGreaterThan(2);
  expect(history?.strategy).toBe('fallback');
  expect(longest).toBeLessThan(3_000);
});
