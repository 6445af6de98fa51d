import { describe, expect, test } from 'vitest';
import {
  contentWords,
  compareStatements,
  linesAdded,
  statementsIn,
  summarise,
} from './harm-figures.ts';

describe('the words that count', () => {
  test.each([
    ['The booking is QX-7719, for 3 nights.', ['booking', 'qx', '7719', '3', 'nights']],
    ['東京へ', ['東', '京', 'へ']],
    ['서울 여행', ['서울', '여행']],
    ['It is what it was', ['what']],
  ])('of %s', (text, words) => {
    expect(contentWords(text)).toEqual(words);
  });
});

describe('lines that code has added', () => {
  test.each([
    ['- User: "never on Mondays"', true],
    ['- Tool call: "searchFlights"', true],
    ['- Tool: "file not found"', true],
    ['- Links: https://example.com/a', true],
    ['- The user said "never on Mondays"', false],
    ['- User: wants "never on Mondays" kept', false],
    ['- Never on Mondays', false],
  ])('%s: %s', (line, isAdded) => {
    expect(linesAdded(`<key_knowledge>\n${line}\n</key_knowledge>`)).toEqual(isAdded ? [line] : []);
  });
});

describe('the statements of an answer', () => {
  test.each([
    [{ operations: [{ op: 'add', items: [{ text: 'a' }, { text: 'b' }] }] }, ['a', 'b']],
    [{ operations: [{ op: 'update', id: 'i1', text: 'c' }] }, ['c']],
    [{ operations: [{ op: 'remove', id: 'i1', reason: 'd' }] }, []],
    ['no ledger', []],
  ])('%j', (answer, statements) => {
    expect(statementsIn(JSON.stringify(answer))).toEqual(statements);
  });

  test('are none where it cannot be read', () => {
    expect(statementsIn('{"operations":[')).toEqual([]);
  });
});

describe('harm', () => {
  test('is none where all is kept and nothing added', () => {
    expect(compareStatements(['Booking QX-7719'], '- Booking QX-7719')).toEqual({
      statements: 1,
      kept: 1,
      added: 0,
      addedLines: 0,
    });
  });

  test('is the share of words that are gone, and of characters that are new', () => {
    const snapshot = '- Booking QX\n- User: "hurry!"';

    expect(compareStatements(['Booking QX-7719', 'Hurry'], snapshot)).toEqual({
      statements: 2,
      kept: 0.75,
      added: 0.552,
      addedLines: 1,
    });
  });

  test('of all counts a refusal as nothing kept, and not among what was added', () => {
    expect(summarise([{ kept: 1, added: 0.1 }, { kept: 0 }])).toEqual({
      generations: 2,
      refused: 1,
      kept: 0.5,
      added: 0.1,
    });
  });
});
