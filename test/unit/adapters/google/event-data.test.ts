import { describe, expect, test } from 'vitest';
import { createEventData, EVENT_MAX_CHARACTERS } from '#functions/adapters/google/event-data.ts';
import { AnswerTooLarge } from '#functions/adapters/gemini/gemini-errors.ts';

/** The data of a text that comes in pieces of `size`, and what is left of it. */
function read(text: string, size = text.length) {
  const events = createEventData();
  const data: string[] = [];
  for (let at = 0; at < text.length; at += size)
    data.push(...events.feed(text.slice(at, at + size)));
  return { data, rest: events.rest() };
}

describe('the data of events', () => {
  const stream =
    'data: {"a":1}\r\n\r\ndata:{"b":2}\n\n: alive\n\nevent: x\nid: 7\nretry: 9\ndata: c\ndata: d\n\n';

  test.each([1, 2, 3, 7, 1_000])(
    'event data arrives whole out of pieces of %i characters',
    (size) => {
      expect(read(stream, size)).toEqual({ data: ['{"a":1}', '{"b":2}', 'c\nd'], rest: '' });
    },
  );

  test.each([
    { text: 'data: {"a":1}\n', rest: 'data: {"a":1}' },
    { text: 'data: {"a"', rest: 'data: {"a"' },
    { text: '{"error":\n1}', rest: '{"error":\n1}' },
    { text: '', rest: '' },
  ])('event data ignores $text', ({ text, rest }) => {
    expect(read(text, 4)).toEqual({ data: [], rest });
  });

  test('event data of an endless event is refused', () => {
    const events = createEventData();
    const piece = 'x'.repeat(EVENT_MAX_CHARACTERS / 4);

    for (let count = 0; count < 4; count++) events.feed(piece);

    expect(() => events.feed('x')).toThrow(AnswerTooLarge);
  });
});
