import { describe, expect, test } from 'vitest';
import { emptySnapshot, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import {
  contentWords,
  compareStatements,
  linesAdded,
  rewordedIn,
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
    ['- Tool: "file not found"', false],
    ['- Shown by the user: "closed on Mondays"', true],
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
    expect(compareStatements(['Booking QX-7719'], { snapshotText: '- Booking QX-7719' })).toEqual({
      statements: 1,
      kept: 1,
      added: 0,
      addedLines: 0,
    });
  });

  test('is the share of words that are gone, and of characters that are new', () => {
    const snapshotText = '- Booking QX\n- User: "hurry!"';

    expect(compareStatements(['Booking QX-7719', 'Hurry'], { snapshotText })).toEqual({
      statements: 2,
      kept: 0.75,
      added: 0.552,
      addedLines: 1,
    });
  });

  test('is none to what went to the archive', () => {
    const archive = [{ text: 'Booking QX-7719' }];

    expect(compareStatements(['Booking QX-7719'], { snapshotText: '- Hurry', archive }).kept).toBe(
      1,
    );
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

describe('an update only rewords', () => {
  const previous: Snapshot = {
    ...emptySnapshot('assistant'),
    sections: {
      key_knowledge: [
        {
          id: 'i1',
          text: 'The fee is 1,250 EUR a year.',
          sources: [1],
          importance: 2,
          by: 'model',
        },
      ],
    },
    nextId: 2,
  };
  const update = (text: string) =>
    JSON.stringify({ operations: [{ op: 'update', id: 'i1', text, sources: [3] }], topics: [] });

  test.each([
    ['what says the same in fewer words', 'Fee: 1250 EUR yearly.', 1],
    ['not where the words are the same', 'The fee is 1,250 EUR a year', 0],
    ['not where a value is new', 'The fee is 1,300 EUR a year.', 0],
    ['not where there is more to it', 'The fee is 1,250 EUR a year, and due in the spring.', 0],
  ])('%s', (_case, text, expected) => {
    expect(rewordedIn(update(text), previous)).toBe(expected);
  });

  test('nothing where nothing was known', () => {
    expect(rewordedIn(update('Fee: 1250 EUR yearly.'), undefined)).toBe(0);
  });
});
