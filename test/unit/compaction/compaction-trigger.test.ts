import { resolvePolicy } from '#shared/compaction/policy.ts';
import { requestForChangedContext, requestForContext } from '#shared/compaction/trigger.ts';
import { type Conversation, newConversation } from '#shared/conversation/documents/conversation.ts';
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
    { tokens: 10_000, conversation: { compactionRequests: { manual } } },
    'auto',
  ],
  [
    'asks for nothing that waits already',
    { tokens: over, conversation: { compactionRequests: { auto: automatic } } },
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
    (...[, ofPolicy, tokens, compactionRequests, trigger]) => {
      const need = requestForContext({
        conversation: { ...conversation, compactionRequests },
        history: historyOf(80_000),
        tokens,
        policy: ofPolicy,
        requestId: 'request',
        now,
      });

      expect(need?.trigger).toBe(trigger);
    },
  );
});
