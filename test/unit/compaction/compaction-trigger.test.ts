import { resolvePolicy } from '#shared/compaction/policy.ts';
import { requestForContext } from '#shared/compaction/trigger.ts';
import { newConversation } from '#shared/conversation/documents/conversation.ts';
import { continuedHistory } from '#shared/conversation/writes/next-generation.ts';
import { expect, test } from 'vitest';

const now = new Date('2026-01-02T03:04:05Z');
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
  ['waits where one was called off at about this size', unlimited, 81_001, { declined }, undefined],
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
