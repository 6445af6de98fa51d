import { resolvePolicy } from '#shared/compaction/policy.ts';
import { requestAfterTurn } from '#shared/compaction/trigger.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { searchCases } from '#test/support/search-cases.ts';
import { createScriptedModel, snapshotAnswer } from '../fakes/scripted-model.ts';
import { scriptedStreamer } from '../fakes/scripted-streamer.ts';
import { chatDependencies } from '../support/chat/chat-dependencies.ts';
import { sendAll } from '../support/chat/sending.ts';
import {
  buildDue,
  compactOnce,
  see,
  THRESHOLD_TOKENS,
} from '../support/compaction/compacted-conversation.ts';
import { compactionBench } from '../support/compaction/compaction-dependencies.ts';
import { storedConversation } from '../support/processes/fault-stack.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import fc from 'fast-check';

const policy = resolvePolicy({
  conversation: { thresholdTokens: 10_000 },
  environment: {},
  model: 'gemini-2.5-flash',
  profile: 'assistant',
});
const REARM_TOKENS = policy.rearmFraction * 10_000;

/** What some compaction has stored. */
let stored: History | undefined;
beforeAll(async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench);
  await compactOnce(bench, conversationId);
  stored = (await see(bench.store, conversationId)).history;
});

/** Whether a turn that ends at `tokens` asks for a compaction, `afterTokens` after the last one. */
const asks = (tokens: number, afterTokens: number | null) =>
  requestAfterTurn({
    conversation: { settings: {}, compactionRequests: {} },
    history: afterTokens === null || !stored ? undefined : { ...stored, afterTokens },
    meter: {
      tokens,
      overheadTokens: 0,
      calibration: 1,
      source: 'reported',
      generation: 1,
      seq: 9,
    },
    isOverflow: false,
    policy,
    requestId: 'request-1',
    now: new Date(0),
  }) !== undefined;

describe('a compaction', () => {
  test('no further compaction is requested before the context has grown by a fifth of its threshold', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60_000 }),
        fc.integer({ min: 0, max: REARM_TOKENS - 1 }),
        (afterTokens, growth) => {
          expect(asks(afterTokens + growth, afterTokens)).toBe(false);
        },
      ),
      { numRuns: searchCases(10_000) },
    );
  });

  test('a further compaction is requested once the context has grown and is over the threshold', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10_000, max: 60_000 }),
        fc.integer({ min: REARM_TOKENS, max: 60_000 }),
        (afterTokens, growth) => {
          expect(asks(afterTokens + growth, afterTokens)).toBe(true);
        },
      ),
      { numRuns: searchCases(10_000) },
    );
  });

  test('compactions run at most once per fifth of a threshold, however little they save', () => {
    const turns = fc.array(fc.integer({ min: 1, max: 4_000 }), { minLength: 1, maxLength: 200 });
    const leaves = fc.double({ min: 0.05, max: 0.79, noNaN: true });
    fc.assert(
      fc.property(turns, leaves, (sizes, leftFraction) => {
        let tokens = 0;
        let after: number | null = null;
        let runs = 0;
        for (const size of sizes) {
          tokens += size;
          if (!asks(tokens, after)) continue;
          runs += 1;
          tokens = Math.ceil(leftFraction * tokens);
          after = tokens;
        }
        const said = sizes.reduce((sum, size) => sum + size, 0);
        expect(runs).toBeLessThanOrEqual(1 + said / REARM_TOKENS);
      }),
      { numRuns: searchCases(2_000) },
    );
  });
});

/** A compaction whose result is larger than the threshold and far smaller than what it replaced. */
async function compactedOverThreshold() {
  const bench = compactionBench({
    model: createScriptedModel({
      answers: [snapshotAnswer()],
      count: (prompt) => Promise.resolve(prompt.contents.length > 30 ? 9_000 : 1_400),
    }),
  });
  const conversationId = await buildDue(bench);
  await compactOnce(bench, conversationId);
  return { bench, conversationId };
}

const usageOf = (promptTokens: number) => ({
  promptTokens,
  cachedTokens: 0,
  outputTokens: 1,
  thoughtsTokens: 0,
});
const answerAt = (promptTokens: number) => ({
  chunks: [{ parts: [{ text: 'Fine.' }], finishReason: 'STOP', usage: usageOf(promptTokens) }],
});

test('a snapshot over the threshold is not compacted again until the context has grown', async () => {
  const { bench, conversationId } = await compactedOverThreshold();
  const sizes = [1_410, 1_450, 1_500, 1_550];
  const model = scriptedStreamer(...sizes.map(answerAt), answerAt(1_800)).model;
  const chat = chatDependencies({ store: bench.store, model });

  await sendAll(chat, conversationId, ['one', 'two', 'three', 'four']);
  const quiet = await storedConversation(bench.store, conversationId);
  await sendAll(chat, conversationId, ['five']);

  const { history: snapshot } = await see(bench.store, conversationId);
  expect(snapshot?.afterTokens).toBeGreaterThan(THRESHOLD_TOKENS);
  expect(quiet.compactionRequests).toEqual({});
  expect(
    (await storedConversation(bench.store, conversationId)).compactionRequests.auto,
  ).toBeDefined();
});
