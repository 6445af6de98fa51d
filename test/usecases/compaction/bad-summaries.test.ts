import { statusPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Prompt } from '#shared/ports/ports.ts';
import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import {
  type ScriptedAnswer,
  createScriptedModel,
  snapshotAnswer,
} from '#test/fakes/scripted-model.ts';
import { type StrategyName, benchWith } from '#test/support/chat/lifecycle.ts';
import {
  autoRequest,
  buildDue,
  compactOnce,
  see,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { modelDown } from '#test/support/model-down.ts';
import { describe, expect, test } from 'vitest';

/** What a threshold of 1,000 tokens leaves to a snapshot of Gemini CLI's. */
const BUDGET_TOKENS = 400;

/** Words that repeat nothing and come to so many tokens. */
function wordsOf(tokens: number): string {
  const words: string[] = [];
  while (estimateTextTokens(words.join(' '), 'character-class') < tokens)
    words.push(`word${words.length}`);
  return words.join(' ');
}

const only = (text: string) =>
  `<state_snapshot><key_knowledge>${text}</key_knowledge></state_snapshot>`;

const first = snapshotAnswer('The first pass says harbours.');
const second = snapshotAnswer('The second pass says markets.');
const blank = ' \n ';
const prose = 'The user plans a trip and eats no meat.';
const thought = { parts: [{ text: first, thought: true }], finishReason: 'STOP' };
const cut = () => Promise.resolve({ parts: [{ text: second }], finishReason: 'MAX_TOKENS' });
const blocked = () => Promise.resolve({ parts: [], blockReason: 'SAFETY' });
const loop = only('The user asks again.\n'.repeat(30));
const tooSmall = only('Trip');
const tooLarge = only(wordsOf(2.1 * BUDGET_TOKENS));

async function compact(strategy: StrategyName, answers: readonly ScriptedAnswer[]) {
  const bench = benchWith(strategy, answers);
  const conversationId = await buildDue(bench);
  const result = await compactOnce(bench, conversationId);
  return { bench, conversationId, result, ...(await see(bench.store, conversationId)) };
}

const EMPTY = ['FAILED_EMPTY_SUMMARY', 'EMPTY'] as const;
const refusedAs = (reason: string) => ['FAILED_VERIFICATION', reason] as const;
const noSnapshot = refusedAs('SUMMARY_UNREADABLE_noSnapshot');

describe('answers that are no summary', () => {
  test.each<[StrategyName, string, ScriptedAnswer[], readonly [state: string, reason: string]]>([
    ['ledger', 'blank', [blank], EMPTY],
    ['ledger', 'thoughts alone', [thought], EMPTY],
    ['ledger', 'prose', [prose], refusedAs('SUMMARY_UNREADABLE_NOT_JSON')],
    ['ledger', 'cut at its bound', [cut], refusedAs('SUMMARY_MAX_TOKENS')],
    ['ledger', 'blocked', [blocked], refusedAs('SUMMARY_BLOCKED_SAFETY')],
    ['gemini-cli', 'blank', [blank], EMPTY],
    ['gemini-cli', 'prose', [prose], noSnapshot],
    ['gemini-cli', 'blank, then prose', [blank, prose], noSnapshot],
    ['gemini-cli', 'a loop', [loop], refusedAs('REPETITIVE')],
    ['gemini-cli', 'a word', [tooSmall], refusedAs('TOO_SMALL')],
    ['gemini-cli', 'more than twice its budget', [tooLarge], refusedAs('TOO_LARGE')],
  ])(
    'a bad answer of the %s summariser changes nothing and is tried again: %s',
    async (strategy, _, answers, [state, reason]) => {
      const { result, conversation, job, text } = await compact(strategy, answers);

      expect(result).toMatchObject({ kind: 'retry' });
      expect(conversation).toMatchObject({ generation: 0, compactionRequests: autoRequest() });
      expect(text).toContain('Question 1:');
      const modelCalls = strategy === 'ledger' ? 1 : 2;
      expect(job?.records).toMatchObject([{ state, reason, modelCalls }]);
      expect(job?.brake.failures).toBe(1);
    },
  );

  test.each<[string, ScriptedAnswer, ScriptedAnswer, string]>([
    ['good ones', first, second, 'markets'],
    ['a good one and a blank one', first, blank, 'harbours'],
    ['a good one and one of more than twice its budget', first, tooLarge, 'harbours'],
    ['a good one and a 503', first, modelDown(), 'harbours'],
    ['prose and a good one', prose, second, 'markets'],
  ])('of two passes, the last good one is swapped in: %s', async (...[, one, other, said]) => {
    const { bench, result, text } = await compact('gemini-cli', [one, other]);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(text).toContain(`pass says ${said}`);
    expect(bench.model.calls).toHaveLength(2);
  });

  test('a snapshot of almost twice its budget is swapped in', async () => {
    const { result } = await compact('gemini-cli', [only(wordsOf(1.9 * BUDGET_TOKENS))]);

    expect(result).toMatchObject({ state: 'COMPACTED' });
  });
});

describe('a summariser that does not answer under a schema', () => {
  const refused = new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'MODEL_REFUSED_REQUEST',
    message: 'JSON mode is not enabled for this model',
    publicMessage: 'The model refused the request.',
  });

  test('a summariser without schema support is asked in Gemini CLI’s two passes instead', async () => {
    const { bench, result, history } = await compact('ledger', [
      ({ responseJsonSchema }) =>
        responseJsonSchema === undefined ? Promise.resolve(first) : Promise.reject(refused),
    ]);

    expect(result).toMatchObject({ state: 'COMPACTED' });
    expect(history).toMatchObject({ strategy: 'gemini-cli', modelCalls: 3 });
    expect(bench.logged.map(({ event }) => event)).toContain('summariser_without_schema');
  });

  test('a summariser without schema support is not retried when it refuses text too', async () => {
    const { result, conversation } = await compact('ledger', [refused]);

    expect(result).toMatchObject({ state: 'FAILED_ERROR', reason: 'MODEL_REFUSED_REQUEST' });
    expect(conversation.generation).toBe(0);
  });
});

describe('summaries that are not small enough', () => {
  const isCompacted = (prompt: Prompt) =>
    JSON.stringify(prompt.contents).includes('state_snapshot');

  /** A compaction whose counter says so of the context, and of what a snapshot makes of it. */
  async function counted(beforeTokens: number, afterTokens: number, conversation: object = {}) {
    const model = createScriptedModel({
      answers: [snapshotAnswer()],
      count: (prompt) => Promise.resolve(isCompacted(prompt) ? afterTokens : beforeTokens),
    });
    const bench = compactionBench({ model });
    const conversationId = await buildDue(bench, { conversation });
    const result = await compactOnce(bench, conversationId);
    const [status] = await bench.store.get([statusPath(conversationId)]);
    const line = bench.logged.find(({ event }) => event === 'chat_compression')?.fields;
    return { bench, result, status, line, ...(await see(bench.store, conversationId)) };
  }

  test.each([
    {
      what: 'is larger',
      afterTokens: 90_000,
      reason: 'NOT_SMALLER',
      failures: 1,
      waitsForGrowth: false,
      message: /60,000.*90,000/,
    },
    {
      what: 'is as large',
      afterTokens: 60_000,
      reason: 'NOT_SMALLER',
      failures: 1,
      waitsForGrowth: false,
      message: /60,000/,
    },
    {
      what: 'saves too little',
      afterTokens: 43_000,
      reason: 'SAVES_TOO_LITTLE',
      failures: 0,
      waitsForGrowth: true,
      message: /saved too little: from 60,000 to 43,000 tokens. The history stays as it is/,
    },
  ])(
    'a summary that $what is settled at once and told with both counts',
    async ({ afterTokens, reason, failures, waitsForGrowth, message }) => {
      const { bench, tokens, result, status, line, conversation, job } = await counted(
        60_000,
        afterTokens,
      );

      const state = 'FAILED_INFLATED_TOKEN_COUNT';
      const figures = { beforeTokens: 60_000, afterTokens };
      expect(result).toMatchObject({ kind: 'done', state });
      expect(job?.records).toMatchObject([{ state, reason, ...figures }]);
      expect(job?.brake.failures).toBe(failures);
      expect(line).toMatchObject({ tokens_before: 60_000, tokens_after: afterTokens });
      expect(bench.published.at(-1)?.data).toMatchObject({ type: 'compaction.failed', ...figures });
      expect(status?.fields).toMatchObject({ tokens, compaction: { state, ...figures } });
      expect(status?.fields).toHaveProperty('compaction.message', expect.stringMatching(message));
      expect(conversation).toMatchObject({
        generation: 0,
        compactionRequests: {},
      });
      const { declined } = conversation.compactionRequests;
      expect(declined).toEqual(waitsForGrowth ? { tokens, generation: 0 } : undefined);
    },
  );

  test('in the profile gemini-cli the first inflation opens the breaker, until growth or half an hour', async () => {
    const conversation = { profile: 'gemini-cli', settings: { thresholdTokens: 1_000 } };

    const { bench, job, tokens } = await counted(4_000, 9_000, conversation);

    expect(job?.brake).toEqual({
      failures: 1,
      spent: expect.anything(),
      pause: {
        reason: 'BREAKER_OPEN',
        until: new Date(bench.clock.now().getTime() + 30 * 60_000),
        fromTokens: 1.5 * tokens,
      },
    });
  });
});
