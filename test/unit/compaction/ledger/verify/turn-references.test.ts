import { describe, expect, test } from 'vitest';
import { toPhrases } from '#shared/compaction/facts/languages/phrases.ts';
import { withoutTurnReferences } from '#shared/compaction/ledger/verify/turn-references.ts';

const cut = (text: string, ...said: string[]) => withoutTurnReferences(text, [toPhrases(said)]);

describe('references to numbered turns, which only the summariser saw', () => {
  test.each([
    ['in brackets', 'Ana plays the oboe (turn 12)', 'Ana plays the oboe'],
    ['in brackets before a point', 'Ana plays the oboe (turn 12).', 'Ana plays the oboe.'],
    ['in square brackets', 'Ana [turns 3, 5] plays the oboe', 'Ana plays the oboe'],
    [
      'of a range',
      'Ana plays the oboe (see turns 11-14); Leo sings',
      'Ana plays the oboe; Leo sings',
    ],
    ['in words', 'Ana plays the oboe, as said in turn 12', 'Ana plays the oboe, as said'],
    ['in front of a statement', 'Turn 12: Ana plays the oboe', 'Ana plays the oboe'],
    ['since when', 'Leo sings since turns 3 and 4', 'Leo sings'],
    ['with a number sign', 'Leo sings (turn #7)', 'Leo sings'],
    ['in Japanese', 'アナはオーボエを吹く（ターン12）', 'アナはオーボエを吹く'],
    ['in Chinese', '安娜吹双簧管（轮次 12）', '安娜吹双簧管'],
    ['in Korean', '아나는 오보에를 분다 (턴 12)', '아나는 오보에를 분다'],
  ])('references to numbered turns are removed: %s', (_what, text, left) => {
    expect(cut(text, 'Ana plays the oboe. Leo sings.')).toBe(left);
  });

  test.each([
    ['a move of a game that a turn tells', 'Ana won on turn 12', 'I won on turn 12!'],
    ['a number of something else', 'Ana lives in room 12', 'Nothing.'],
    ['a word that ends like it', 'The return 12 came back', 'Nothing.'],
    ['a plane that ends like it', 'They flew with Saturn 5', 'Nothing.'],
    ['a turn without a number', 'It was her turn to sing', 'Nothing.'],
    ['an angle', 'Turn 90 degrees at the tower', 'Turn by ninety degrees.'],
    ['what somebody else turns', 'Please turn 12 pages', 'Turn a dozen pages.'],
    ['how often', 'They took turns 3 times', 'We took turns, three times each.'],
  ])('text that only resembles a turn reference stays: %s', (_what, text, said) => {
    expect(cut(text, said)).toBe(text);
  });

  test('a statement of nothing but turn references is removed', () => {
    expect(cut('(turn 12)')).toBe('');
  });
});
