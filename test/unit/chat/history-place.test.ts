import { expect, test } from 'vitest';
import { findHistoryPlace } from '#functions/chat/facades/openai/history-place.ts';

const turns = ['hello', 'boats', 'prices'].map((text, index) => ({ seq: index + 4, text }));
const long = ['yes', 'yes', 'no', 'yes'].map((text, index) => ({ seq: index + 1, text }));

test.each<[string, string[], typeof turns, boolean, number | 'end' | 'unknown']>([
  ['no history tells no place', [], turns, false, 'unknown'],
  ['no history of a client that tells all is the very beginning', [], turns, true, 4],
  [
    'the whole history comes before a new message',
    ['hello', 'boats', 'prices'],
    turns,
    false,
    'end',
  ],
  ['the end of the history comes before a new message', ['prices'], turns, false, 'end'],
  ['a history that lacks the last message is an edit of it', ['hello', 'boats'], turns, false, 6],
  ['a history that lacks two messages is an edit of the first of them', ['hello'], turns, false, 5],
  ['messages that are folded already are not looked at', ['older', 'hello'], turns, false, 5],
  ['a history that nobody knows tells no place', ['hello', 'trains'], turns, false, 'unknown'],
  ['the same message over and over is taken for the newest', ['yes'], long, false, 'end'],
  ['messages before it tell which of the same ones is meant', ['yes', 'yes'], long, false, 3],
])('%s', (...[, before, stored, isWhole, place]) => {
  const expected = typeof place === 'number' ? { kind: 'edit', seq: place } : { kind: place };

  expect(findHistoryPlace({ before, turns: stored, isWhole })).toEqual(expected);
});
