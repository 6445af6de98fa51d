import { describe, expect, test } from 'vitest';
import { exchangesOf, parseRecordings } from './recording.ts';
import {
  checkTranscript,
  type CompactionView,
  type ReplayedConversation,
  type TranscriptMessage,
} from './replay-conversation.ts';
import { isComplete, replayFigures } from './replay-figures.ts';

test('a recording is replayed as texts: neighbours of one role together, without calls of tools', () => {
  const said = (role: 'user' | 'model', text: string) => ({ role, parts: [{ text }] });
  const call = { functionCall: { name: 'w' } };
  const turns = [
    said('model', 'Hello'),
    said('user', 'a'),
    said('user', 'b'),
    { role: 'model' as const, parts: [{ text: 'one moment' }, call] },
    { role: 'user' as const, parts: [{ functionResponse: { name: 'w', response: {} } }] },
    said('model', 'sunny'),
    said('user', 'c'),
  ];

  expect(exchangesOf({ id: 'r', turns })).toEqual([
    { user: 'a\nb', model: 'one moment\nsunny', recordedIndexes: [1, 2, 3, 5] },
    { user: 'c', model: '', recordedIndexes: [6] },
  ]);
});

test('a file of recordings that is none is refused, by line', () => {
  const good = JSON.stringify({ id: 'r', turns: [] });

  expect(() => parseRecordings(`${good}\n{"id":1}\n`)).toThrow(/line 2/);
  expect(() => parseRecordings('\n')).toThrow(/no recorded conversation/);
});

const user = (n: number): TranscriptMessage => ({ id: `u${n}`, role: 'user', text: `say ${n}` });
const model = (n: number): TranscriptMessage => ({ id: `m${n}`, role: 'model', text: `do ${n}` });
const conversation = [user(1), model(1), user(2), model(2)];

test.each([
  ['every message once, in order', conversation, []],
  ['one message less', [user(1), user(2), model(2)], ['missing m1']],
  ['the first message last', [model(1), user(2), model(2), user(1)], ['out-of-order m1']],
  ['another text', conversation.with(3, { ...model(2), text: 'no' }), ['altered m2']],
  ['another role', conversation.with(1, { ...model(1), role: 'user' }), ['altered m1']],
  ['a message that nobody sent', [...conversation, user(3)], ['unexpected u3']],
  ['a message twice', [...conversation, model(1)], ['twice m1']],
])('a transcript with %s has these problems', (_, stored, problems) => {
  const found = checkTranscript(conversation, stored);

  expect(found.map(({ kind, message }) => `${kind} ${message.id}`)).toEqual(problems);
});

describe('the figures of a replay', () => {
  const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  const compaction: CompactionView = {
    generation: 1,
    state: 'COMPACTED',
    trigger: 'auto',
    requestedAt: at(10),
    finishedAt: at(20),
  };
  const sent = (second: number, generation: number, promptTokens: number) => ({
    sentAt: at(second),
    durationMs: second,
    retries: 0,
    answer: { kind: 'answered' as const, seq: second, text: 'ok', generation, promptTokens },
  });
  const replayed: ReplayedConversation = {
    recordingId: 'r',
    conversationId: 'c',
    sends: [sent(9, 0, 8_000), sent(15, 0, 8_300), sent(21, 1, 3_100), sent(30, 1, 3_200)],
    compactions: [compaction],
    problems: [],
  };

  test('tell sends during a compaction from the others, and the first prompt after the swap', () => {
    expect(replayFigures([replayed])).toMatchObject({
      sendsDuringCompaction: { n: 1, p50Ms: 15, p95Ms: 15 },
      sendsOutsideCompaction: { n: 3, p50Ms: 21, p95Ms: 30 },
      conversations: [{ promptTokensAfterLastSwap: 3_100 }],
    });
  });

  test('are complete only when nothing is missing and nothing failed', () => {
    const problems = [{ kind: 'missing' as const, message: user(1) }];

    expect(isComplete(replayFigures([replayed]))).toBe(true);
    expect(isComplete(replayFigures([{ ...replayed, failure: 'refused' }]))).toBe(false);
    expect(isComplete(replayFigures([{ ...replayed, problems }]))).toBe(false);
  });
});
