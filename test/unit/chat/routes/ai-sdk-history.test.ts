import { describe, expect, test } from 'vitest';
import {
  decideHistory,
  type HistoryClaim,
  type KnownTurn,
  type SentMessage,
} from '#functions/chat/facades/ai-sdk/history-decision.ts';

/** Turn `seq`, said by the message `u{seq}`, which says the same. */
const turn = (seq: number, changes: Partial<KnownTurn> = {}): KnownTurn => ({
  seq,
  messageId: `u${seq}`,
  text: `u${seq}`,
  replacedBy: [],
  isErased: false,
  counts: true,
  ...changes,
});

/** `u…` are messages of the user that say their id, or what stands behind `=`; `m…` answers; all others are foreign. */
const sent = (history: string): SentMessage[] =>
  history
    .split(' ')
    .filter((each) => each !== '')
    .map((each, index) => {
      const [id = '', text = id] = each.split('=');
      if (id.startsWith('u')) return { index, names: { messageId: id }, text };
      const names = id.startsWith('m') ? { answerOf: Number(id.slice(1)) } : undefined;
      return { index, names, text: '' };
    });

const three = [turn(1), turn(2), turn(3)];
const anewAnswered = [
  turn(1, { replacedBy: [2] }),
  turn(2, { messageId: 'r', text: 'u1', replaces: 1 }),
];
const edited = [
  turn(1, { replacedBy: [3] }),
  turn(2, { replacedBy: [3] }),
  turn(3, { replaces: 1, text: 'better' }),
];
const withFailed = [turn(1), turn(2, { counts: false })];
const withErased = [turn(1), turn(2, { isErased: true, text: '' }), turn(3)];

describe('where a message of the AI SDK belongs', () => {
  test.each<[title: string, before: string, turns: KnownTurn[], expected: object]>([
    ['after all of a whole history', 'u1 m1 u2 m2 u3 m3', three, { kind: 'append' }],
    ['after the newest part of it', 'u3 m3', three, { kind: 'append' }],
    ['after all where nothing is sent before it', '', three, { kind: 'append' }],
    ['after all where nothing sent is known', 'greeting x', three, { kind: 'append' }],
    [
      'after a greeting and a whole history',
      'greeting u1 m1 u2 m2 u3 m3',
      three,
      { kind: 'append' },
    ],
    ['after a message without an answer', 'u1 m1 u2 m2 u3', three, { kind: 'append' }],
    ['after a message that never arrived', 'u1 m1 u2 m2 u3 m3 u9', three, { kind: 'append' }],
    ['in place of the last turn', 'u1 m1 u2 m2', three, { kind: 'edit', seq: 3 }],
    ['in place of all but the first', 'u1 m1', three, { kind: 'edit', seq: 2 }],
    ['in place of the last turn of a part', 'm2', three, { kind: 'edit', seq: 3 }],
    ['after an answer that was made anew', 'u1 m2', anewAnswered, { kind: 'append' }],
    ['after an edit under the same id', 'u1=better m3', edited, { kind: 'append' }],
    [
      'nowhere, behind an answer that was made anew',
      'u1 m1',
      anewAnswered,
      { kind: 'replaced', index: 1, seq: 1 },
    ],
    [
      'nowhere, behind what an edit changed',
      'u1 m1',
      edited,
      { kind: 'replaced', index: 1, seq: 1 },
    ],
    [
      'nowhere, behind what an edit dropped',
      'u2 m2',
      edited,
      { kind: 'replaced', index: 1, seq: 2 },
    ],
    ['after a turn that failed and is not shown', 'u1 m1', withFailed, { kind: 'append' }],
    ['after a message that was deleted', 'u1 m1 u2 m2', withErased, { kind: 'edit', seq: 3 }],
    ['after all without a message that was deleted', 'u1 m1 u3 m3', withErased, { kind: 'append' }],
    [
      'nowhere, when another text is shown',
      'u1=other m1 u2 m2 u3 m3',
      three,
      { kind: 'changed', index: 0, seq: 1 },
    ],
    [
      'nowhere, when a turn is missing between others',
      'u1 m1 u3 m3',
      three,
      { kind: 'gap', index: 2, seq: 2 },
    ],
  ])('the AI SDK façade puts a new message %s', (...[, before, turns, expected]) => {
    expect(decideHistory({ before: sent(before), turns, claim: undefined })).toEqual(expected);
  });

  test.each<[title: string, claim: HistoryClaim, before: string, expected: object]>([
    ['in place of all, in a whole history that is empty', 'whole', '', { kind: 'edit', seq: 1 }],
    ['in place of all behind a greeting', 'whole', 'greeting', { kind: 'edit', seq: 1 }],
    ['after all of a whole history', 'whole', 'u1 m1 u2 m2 u3 m3', { kind: 'append' }],
    ['after messages picked from the history', 'window', 'u1 m1 u3 m3', { kind: 'append' }],
    ['after messages with shortened texts', 'window', 'u1=… m1 u3 m3', { kind: 'append' }],
    ['in place of what a window ends before', 'window', 'u1 m1 u2 m2', { kind: 'edit', seq: 3 }],
    ['after all where a window is empty', 'window', '', { kind: 'append' }],
  ])('the AI SDK façade puts a new message %s (%s)', (...[, claim, before, expected]) => {
    expect(decideHistory({ before: sent(before), turns: three, claim })).toEqual(expected);
  });
});
