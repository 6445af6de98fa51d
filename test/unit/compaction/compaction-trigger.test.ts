import { resolvePolicy } from '#shared/compaction/policy.ts';
import {
  isStalled,
  automaticThreshold,
  requestForChangedContext,
  requestForContext,
  tokensAfterLastSwap,
  tokensToGrowFrom,
  unproductiveSwapsAfter,
} from '#shared/compaction/trigger.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { newConversation } from '#shared/conversation/documents/new-conversation.ts';
import { continuedHistory } from '#shared/conversation/writes/next-generation.ts';
import { describe, expect, test } from 'vitest';

const now = new Date('2026-01-02T03:04:05Z');
const policy = resolvePolicy({
  model: 'gemini-2.5-flash',
  conversation: { thresholdTokens: 10_000 },
});
const conversation = newConversation({
  epoch: 'e',
  ownerUid: 'owner',
  model: 'gemini-2.5-flash',
  profile: 'assistant',
  systemInstruction: undefined,
  now,
});

const historyOf = (afterTokens: number) =>
  continuedHistory({
    conversation,
    source: undefined,
    state: 'CHANGED',
    changedSeqs: [],
    requestId: 'r',
    by: 'w',
    now,
    beforeTokens: 0,
    afterTokens,
  });

const automatic = { requestId: 'other', since: now, trigger: 'auto' } as const;
const manual = { requestId: 'other', since: now };
const over = policy.hardThresholdTokens;

interface Case {
  tokens: number;
  afterTokens?: number;
  conversation?: Partial<Conversation>;
}

test.each([
  ['asks from the threshold on', { tokens: 10_000 }, 'auto'],
  ['asks for nothing below it', { tokens: 9_999 }, undefined],
  ['asks for nothing that is not armed', { tokens: 10_000, afterTokens: 9_999 }, undefined],
  ['asks at once over the hard threshold', { tokens: over, afterTokens: over }, 'overflow'],
  [
    'asks although a person has asked',
    { tokens: 10_000, conversation: { compactionNeeded: { manual } } },
    'auto',
  ],
  [
    'asks for nothing that waits already',
    { tokens: over, conversation: { compactionNeeded: { auto: automatic } } },
    undefined,
  ],
  [
    'asks for nothing where compaction is manual',
    { tokens: over, afterTokens: over, conversation: { settings: { compaction: 'manual' } } },
    undefined,
  ],
] satisfies [string, Case, string | undefined][])(
  'the compaction trigger after a user changed the context: %s',
  (_, given: Case, trigger) => {
    const need = requestForChangedContext({
      conversation: { ...conversation, ...given.conversation },
      history: historyOf(given.afterTokens ?? 0),
      tokens: given.tokens,
      policy,
      requestId: 'request',
      now,
    });

    expect(need?.trigger).toBe(trigger);
  },
);

describe('a context that a turn has left', () => {
  const unlimited = resolvePolicy({
    model: 'gemini-2.5-flash',
    conversation: { thresholdFraction: 1 },
    windowOverrides: { 'gemini-2.5-flash': 100_000 },
  });
  const small = resolvePolicy({
    model: 'gemini-2.5-flash',
    conversation: { thresholdTokens: 80_000 },
    windowOverrides: { 'gemini-2.5-flash': 100_000 },
  });
  const declined = { tokens: 81_000, generation: 1 };

  test.each([
    [
      'where no threshold is set asks for nothing up to the hard one',
      unlimited,
      80_000,
      {},
      undefined,
    ],
    ['where no threshold is set asks beyond the hard one', unlimited, 80_001, {}, 'overflow'],
    [
      'waits where one was called off at about this size',
      unlimited,
      81_001,
      { declined },
      undefined,
    ],
    ['asks again when it has grown since', unlimited, 101_000, { declined }, 'overflow'],
    ['that is not armed asks for nothing within the window', small, 95_000, {}, undefined],
    ['that is not armed asks when the window is full', small, 95_001, {}, 'overflow'],
  ])(
    'the compaction trigger after a turn: %s',
    (...[, ofPolicy, tokens, compactionNeeded, trigger]) => {
      const need = requestForContext({
        conversation: { ...conversation, compactionNeeded },
        history: historyOf(80_000),
        tokens,
        policy: ofPolicy,
        requestId: 'request',
        now,
      });

      expect(need?.trigger).toBe(trigger);
    },
  );

  test.each(['manual', 'off'] as const)(
    'the compaction trigger requests nothing where compaction is %s',
    (compaction) => {
      const need = requestForContext({
        conversation: { ...conversation, settings: { compaction } },
        history: undefined,
        tokens: 200_000,
        policy: unlimited,
        requestId: 'request',
        now,
      });

      expect(need).toBeUndefined();
      expect(automaticThreshold(small, { settings: { compaction } })).toBeNull();
    },
  );
});

// A history that is made of no other is of generation 1.
test.each([
  ['nothing was swapped or called off', undefined, undefined, null],
  ['the first one was called off', undefined, { tokens: 12_000, generation: 0 }, 12_000],
  ['a swap', 5_000, undefined, 5_000],
  ['one was called off since the swap', 5_000, { tokens: 12_000, generation: 1 }, 12_000],
  ['one was called off before the swap', 5_000, { tokens: 12_000, generation: 0 }, 5_000],
])('the size that re-arms automatic compaction: %s', (...[, afterTokens, declined, expected]) => {
  const history = afterTokens === undefined ? undefined : historyOf(afterTokens);

  expect(tokensToGrowFrom(history, { declined })).toBe(expected);
});

describe('swaps without progress', () => {
  const after = (beforeTokens: number, afterTokens: number, unproductiveSwaps?: number) =>
    unproductiveSwapsAfter(
      { ...historyOf(0), unproductiveSwaps },
      { beforeTokens, afterTokens, policy },
    );

  test.each([
    ['one that saves 30 percent', 5_000, 3_500, 0],
    ['one that saves a quarter of the threshold', 40_000, 37_500, 0],
    ['one that saves less than both', 40_000, 37_501, 2],
  ])('swaps without progress are counted: %s', (...[, beforeTokens, afterTokens, expected]) => {
    expect(after(beforeTokens, afterTokens, 1)).toBe(expected);
  });

  test('swaps without progress are not counted in the gemini-cli profile', () => {
    const peer = resolvePolicy({ model: 'gemini-2.5-flash', profile: 'gemini-cli' });
    const swap = { beforeTokens: 5_000, afterTokens: 5_000, policy: peer };

    expect(unproductiveSwapsAfter(undefined, swap)).toBe(0);
  });

  test.each([
    ['one is not enough', 1, 12_000, false],
    ['two stop compaction', 2, 12_000, true],
    ['until the context has grown by a quarter of the threshold', 2, 14_500, false],
  ])('swaps without progress: %s', (...[, unproductiveSwaps, tokens, expected]) => {
    const history = { ...historyOf(12_000), unproductiveSwaps };

    expect(isStalled({ history, tokens, policy })).toBe(expected);
  });

  test('swaps without progress end the urgency of partial folds', () => {
    const partial = { ...historyOf(12_000), isPartial: true };

    expect(tokensAfterLastSwap({ ...partial, unproductiveSwaps: 1 })).toBeNull();
    expect(tokensAfterLastSwap({ ...partial, unproductiveSwaps: 2 })).toBe(12_000);
  });
});
