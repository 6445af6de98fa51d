import { outcomeMessage } from '#shared/compaction/outcome-message.ts';
import { statusPath } from '#shared/conversation/documents/paths.ts';
import type { Prompt } from '#shared/ports/ports.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { setConversation } from '#test/support/chat/lifecycle.ts';
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
import { addTurn } from '#test/support/compaction/conversation-builder.ts';
import { modelDown } from '#test/support/model-down.ts';
import { describe, expect, test } from 'vitest';

const isCompacted = (prompt: Prompt) => JSON.stringify(prompt.contents).includes('state_snapshot');

/** A worker whose counter says so of the context, and so of what a snapshot makes of it. */
const counting = (beforeTokens: number, afterTokens: number): CompactionBench =>
  compactionBench({
    model: createScriptedModel({
      answers: [snapshotAnswer()],
      count: (prompt) => Promise.resolve(isCompacted(prompt) ? afterTokens : beforeTokens),
    }),
  });

const statusOf = async ({ store }: CompactionBench, conversationId: string) =>
  (await store.get([statusPath(conversationId)]))[0]?.fields;

const lineOf = ({ logged }: CompactionBench) =>
  logged.find(({ event }) => event === 'chat_compression')?.fields;

describe('a summary that is larger than what it stands for', () => {
  test('a larger summary is reported everywhere with both counts', async () => {
    const bench = counting(4_000, 9_000);
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { job, tokens } = await see(bench.store, conversationId);
    const figures = { beforeTokens: 4_000, afterTokens: 9_000 };
    const state = 'FAILED_INFLATED_TOKEN_COUNT';
    const status = await statusOf(bench, conversationId);
    expect(job?.records).toMatchObject([{ state, reason: 'NOT_SMALLER', ...figures }]);
    expect(lineOf(bench)).toMatchObject({ tokens_before: 4_000, tokens_after: 9_000 });
    expect(bench.published.at(-1)?.data).toMatchObject({ type: 'compaction.failed', ...figures });
    expect(status).toMatchObject({ tokens, compaction: { state, ...figures } });
  });

  test.each(['en', 'ko', 'ja', 'zh'])('a larger summary is explained to a user in %s', (locale) => {
    for (const [beforeTokens, afterTokens, shown] of [
      [4_000, 9_000, ['4,000', '9,000']],
      [60_000, 61_500, ['60,000', '61,500']],
    ] as const) {
      const outcome = { state: 'FAILED_INFLATED_TOKEN_COUNT', beforeTokens, afterTokens };
      const message = outcomeMessage({ ...outcome, reason: 'NOT_SMALLER' }, locale);
      for (const figure of shown) expect(message).toContain(figure);
    }
  });
});

describe('a summary that saves too little', () => {
  const reason = 'SAVES_TOO_LITTLE';

  test('a summary that saves too little reports its saving and opens no breaker', async () => {
    const bench = counting(60_000, 43_000);
    const conversationId = await buildDue(bench);

    await compactOnce(bench, conversationId);

    const { job } = await see(bench.store, conversationId);
    const figures = { beforeTokens: 60_000, afterTokens: 43_000 };
    expect(job?.records).toMatchObject([{ reason, ...figures }]);
    expect(job?.brake.failures).toBe(0);
    expect(job?.brake.pause).toBeUndefined();
    expect(await statusOf(bench, conversationId)).toMatchObject({
      compaction: {
        ...figures,
        message:
          'Compaction would have saved too little: from 60,000 to 43,000 tokens. The history stays as it is.',
      },
    });
  });

  test('a summary that saves too little is not retried before the context grows', async () => {
    const bench = counting(60_000, 43_000);
    const conversationId = await buildDue(bench);
    const { tokens } = await see(bench.store, conversationId);

    await compactOnce(bench, conversationId);

    const { conversation } = await see(bench.store, conversationId);
    expect(conversation.compactionRequests).toEqual({ declined: { tokens, generation: 0 } });
  });
});

describe('the breaker of the profile gemini-cli', () => {
  const ofPeer = { profile: 'gemini-cli', settings: { thresholdTokens: 1_000 } } as const;

  /** Three deliveries of the one need, each when it is due. */
  async function tryThrice(bench: CompactionBench): Promise<string> {
    const conversationId = await buildDue(bench, { conversation: ofPeer });
    for (let tries = 0; tries < 3; tries++) {
      await compactOnce(bench, conversationId);
      bench.clock.advance(100_000);
    }
    return conversationId;
  }

  test.each([
    ['an empty summary', 'FAILED_EMPTY_SUMMARY', [''], undefined],
    ['a model that is down', 'FAILED_ERROR', [modelDown()], undefined],
  ])(
    'the gemini-cli breaker is not opened by %s, which is retried',
    async (...[, state, answers]) => {
      const bench = compactionBench({ model: createScriptedModel({ answers }) });

      const conversationId = await tryThrice(bench);

      const { job } = await see(bench.store, conversationId);
      expect(job?.brake.failures).toBe(0);
      expect(job?.brake.pause).toBeUndefined();
      expect(job?.records.map((record) => record.state)).toEqual([state, state, state]);
    },
  );

  test('the gemini-cli breaker is not opened by a failed count, which is retried', async () => {
    const bench = compactionBench({
      model: createScriptedModel({
        answers: [snapshotAnswer()],
        count: () => Promise.reject(modelDown()),
      }),
    });
    const uncountable = {
      tokens: 3_000,
      overheadTokens: 0,
      calibration: Number.MAX_VALUE,
      source: 'reported' as const,
      generation: 0,
      seq: 20,
    };
    const conversationId = await buildDue(bench, {
      conversation: { ...ofPeer, context: uncountable },
    });

    const result = await compactOnce(bench, conversationId);

    const { job } = await see(bench.store, conversationId);
    expect(result).toMatchObject({ kind: 'retry', reason: 'TOKEN_COUNT' });
    expect(job?.brake).toMatchObject({ failures: 0, pause: { reason: 'RETRY_LATER' } });
  });

  test('the gemini-cli breaker is opened by the first inflation', async () => {
    const bench = counting(4_000, 9_000);
    const conversationId = await buildDue(bench, { conversation: ofPeer });

    await compactOnce(bench, conversationId);

    const { job } = await see(bench.store, conversationId);
    expect(job?.brake).toMatchObject({ failures: 1, pause: { reason: 'BREAKER_OPEN' } });
  });
});

describe('an open breaker', () => {
  /** Fails until the breaker opens at a context of about 1,500 tokens. */
  async function openBreaker(bench: CompactionBench): Promise<string> {
    const conversationId = await buildDue(bench, { turns: 12 });
    for (let tries = 1; tries <= 3; tries++) {
      await compactOnce(bench, conversationId);
      bench.clock.advance(100_000);
    }
    return conversationId;
  }

  const failing = () =>
    createScriptedModel({ answers: [modelDown(), modelDown(), modelDown(), snapshotAnswer()] });

  test('an open breaker allows no model call while the history keeps its length', async () => {
    const bench = compactionBench({ model: failing() });
    const conversationId = await openBreaker(bench);
    await addTurn(bench.store, conversationId, { user: 'More. '.repeat(50), answer: 'Yes.' });
    await setConversation(bench, conversationId, {
      compactionRequests: { ...autoRequest('later') },
    });

    const result = await compactOnce(bench, conversationId);

    expect(result).toMatchObject({ state: 'NOOP', reason: 'BREAKER_OPEN' });
    expect(bench.model.calls).toHaveLength(3);
  });

  test('an open breaker allows a model call once the history has grown by half', async () => {
    const bench = compactionBench({ model: failing() });
    const conversationId = await openBreaker(bench);
    const before = await see(bench.store, conversationId);
    await addTurn(bench.store, conversationId, { user: 'More. '.repeat(700), answer: 'Yes.' });
    const grown = await see(bench.store, conversationId);
    await setConversation(bench, conversationId, {
      compactionRequests: { ...overflowRequest('later') },
    });

    const result = await compactOnce(bench, conversationId);

    expect(grown.tokens / before.tokens).toBeGreaterThan(1.5);
    expect(result).toMatchObject({ kind: 'done', state: 'COMPACTED' });
    expect(bench.model.calls.length).toBeGreaterThan(3);
    const { job } = await see(bench.store, conversationId);
    expect(job?.brake).toMatchObject({ failures: 0 });
    expect(job?.brake.pause).toBeUndefined();
  });
});
