import { describe, expect, test } from 'vitest';
import type { CompactionView } from './chat-client.ts';
import type { ReplayedConversation } from './replay-conversation.ts';
import { isComplete, isDuringCompaction, replayFigures } from './replay-figures.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

const compaction: CompactionView = {
  generation: 1,
  state: 'COMPACTED',
  trigger: 'auto',
  requestedAt: at(10),
  finishedAt: at(20),
  turnsFolded: 12,
  beforeTokens: 8_200,
  afterTokens: 3_000,
  calls: 2,
  durationMs: 9_000,
};

function sent(second: number, answer: { generation: number; promptTokens: number }) {
  return {
    sentAt: at(second),
    durationMs: second,
    retries: 0,
    answer: {
      messageId: `m_${second}`,
      text: 'ok',
      finishReason: 'stop',
      generation: answer.generation,
      usage: { promptTokens: answer.promptTokens, outputTokens: 1 },
    },
  };
}

function replayed(overrides: Partial<ReplayedConversation> = {}): ReplayedConversation {
  const leftOut = { toolCalls: 0, toolResponses: 0, otherParts: 0, openingAnswers: 0 };
  return {
    conversation: {
      recordingId: 'r',
      conversationId: 'c',
      script: { exchanges: [], leftOut, mergedContents: 0, splitParts: 0 },
    },
    sends: [
      sent(5, { generation: 0, promptTokens: 8_000 }),
      sent(15, { generation: 0, promptTokens: 8_300 }),
      sent(25, { generation: 1, promptTokens: 3_100 }),
      sent(30, { generation: 1, promptTokens: 3_200 }),
    ],
    compactions: [compaction],
    problems: [],
    ...overrides,
  };
}

describe('isDuringCompaction', () => {
  test.each([
    { second: 9, expected: false },
    { second: 10, expected: true },
    { second: 20, expected: true },
    { second: 21, expected: false },
  ])(
    'a send at second $second of a compaction from 10 to 20: $expected',
    ({ second, expected }) => {
      expect(isDuringCompaction({ sentAt: at(second) }, [compaction])).toBe(expected);
    },
  );
});

describe('replayFigures', () => {
  test('tells sends during a compaction from the others', () => {
    const figures = replayFigures([replayed()]);

    expect(figures.sendsDuringCompaction).toEqual({ n: 1, p50Ms: 15, p95Ms: 15 });
    expect(figures.sendsOutsideCompaction.n).toBe(3);
  });

  test('names the prompt of the first send on the newest generation', () => {
    expect(replayFigures([replayed()]).conversations[0]?.promptTokensAfterLastSwap).toBe(3_100);
  });

  test('is complete only when nothing is missing and nothing failed', () => {
    const message = { id: 'u1', role: 'user' as const, text: 'a' };

    expect(isComplete(replayFigures([replayed()]))).toBe(true);
    expect(isComplete(replayFigures([replayed({ failure: 'refused' })]))).toBe(false);
    expect(
      isComplete(replayFigures([replayed({ problems: [{ kind: 'missing', message }] })])),
    ).toBe(false);
  });
});
