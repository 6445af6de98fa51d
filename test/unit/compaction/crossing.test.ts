import { describe, expect, test } from 'vitest';
import { needOfChangedContext } from '../../../shared/compaction/crossing.ts';
import { resolvePolicy } from '../../../shared/compaction/policy.ts';
import type { Head } from '../../../shared/conversation/head.ts';
import { newHead } from '../../../shared/conversation/new-head.ts';
import { continuedHistory } from '../../../shared/conversation/next-generation.ts';

const now = new Date('2026-01-02T03:04:05Z');
const policy = resolvePolicy({
  model: 'gemini-2.5-flash',
  conversation: { thresholdTokens: 10_000 },
});
const head = newHead({
  epoch: 'e',
  ownerUid: 'owner',
  model: 'gemini-2.5-flash',
  profile: 'assistant',
  systemInstruction: undefined,
  now,
});

const historyOf = (afterTokens: number) =>
  continuedHistory({
    head,
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
  head?: Partial<Head>;
}

describe('a context that a person has changed', () => {
  test.each([
    ['asks from the threshold on', { tokens: 10_000 }, 'auto'],
    ['asks for nothing below it', { tokens: 9_999 }, undefined],
    ['asks for nothing that is not armed', { tokens: 10_000, afterTokens: 9_999 }, undefined],
    ['asks at once over the hard threshold', { tokens: over, afterTokens: over }, 'overflow'],
    [
      'asks although a person has asked',
      { tokens: 10_000, head: { compactionNeeded: { manual } } },
      'auto',
    ],
    [
      'asks for nothing that waits already',
      { tokens: over, head: { compactionNeeded: { auto: automatic } } },
      undefined,
    ],
    [
      'asks for nothing where compaction is manual',
      { tokens: over, afterTokens: over, head: { settings: { compaction: 'manual' } } },
      undefined,
    ],
  ] satisfies [string, Case, string | undefined][])('%s', (_, given: Case, trigger) => {
    const need = needOfChangedContext({
      head: { ...head, ...given.head },
      history: historyOf(given.afterTokens ?? 0),
      tokens: given.tokens,
      policy,
      requestId: 'request',
      now,
    });

    expect(need?.trigger).toBe(trigger);
  });
});
