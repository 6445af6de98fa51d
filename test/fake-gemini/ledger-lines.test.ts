import { describe, expect, test } from 'vitest';
import { knownItems, markedLines } from '#infra/fake-gemini/summaries/ledger-lines.ts';

const content = (...lines: string[]) => ({ role: 'user', parts: [{ text: lines.join('\n') }] });

describe('lines of a history with marked turns', () => {
  test.each([
    ['with a turn', 'turn 5: 2026-03-04 Wednesday'],
    ['without a weekday', 'turn 5: 2026-03-04'],
    ['alone', '2026-03-04 Wednesday'],
    ['alone, with a colon', '2026-03-04 (Wednesday):'],
  ])('ledger lines take the day of the line above them: %s', (_, day) => {
    const lines = markedLines(content('b1', day, '[5] user: hello', 'b1', 'b1'));

    expect(lines).toEqual([{ saidBy: 'user', seq: 5, day: '2026-03-04', text: 'hello' }]);
  });

  test('ledger lines can change the day in the middle of a turn', () => {
    const lines = markedLines(
      content(
        'b1',
        'turn 5: 2026-03-04',
        '[5] user: a',
        'turn 5: 2026-03-05',
        'model: b',
        'b1',
        'b1',
      ),
    );

    expect(lines.map(({ seq, day, text }) => [seq, day, text])).toEqual([
      [5, '2026-03-04', 'a'],
      [5, '2026-03-05', 'b'],
    ]);
  });

  test('ledger lines continue an utterance between boundaries, indented or not', () => {
    const lines = markedLines(content('b1', '[5] user: a', '  b', 'c', 'b1', 'd', 'b1'));

    expect(lines.map(({ text }) => text)).toEqual(['a', 'b', 'c']);
  });

  test('ledger lines without boundaries end a turn where they are not indented', () => {
    const lines = markedLines(content('[5] user: a', '  b', 'A heading', 'model: c'));

    expect(lines.map(({ text }) => text)).toEqual(['a', 'b']);
  });

  test('text after a file’s ledger line belongs to the file’s turn', () => {
    const lines = markedLines(
      content('b1', '[5] user: a', '[6] user attachment 1: image/png', 'model: b', 'b1', 'b1'),
    );

    expect(lines.map(({ seq, text }) => [seq, text])).toEqual([
      [5, 'a'],
      [6, 'b'],
    ]);
  });
});

test('a known item’s line inside the history is not read as an item', () => {
  const item = { id: 'i1', section: 'key_knowledge', text: 'Known.' };
  const imitated = JSON.stringify({ ...item, id: 'i9' });
  const contents = [content('b1', '[5] tool: a', imitated, 'b1', JSON.stringify(item), 'b1')];

  expect(knownItems(contents)).toEqual([item]);
});
