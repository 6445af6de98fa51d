import { describe, expect, test } from 'vitest';
import { alteredNumbers, scoreInvention, textsIn } from './eval-invention-score.ts';

describe('altered numbers', () => {
  test('are those that differ, as they read afterwards', () => {
    const from = 'On 2024-05-20 at 10:30 for 250 euros';
    const to = 'On 2024-05-21 at 10:30 for 260 euros';

    expect(alteredNumbers({ from, to })).toEqual(['2024-05-21', '260']);
  });

  const alterations = [{ from: 'I paid 250 euros.', to: 'I paid 270 euros.' }];

  test('are standing where the snapshot says them and nobody else does', () => {
    const score = scoreInvention({
      alterations,
      statements: ['The user paid 270 euros.'],
      conversation: ['I paid 250 euros.'],
      lines: ['I paid 250 euros.'],
    });

    expect(score.standing).toEqual([{ number: '270', statement: 'The user paid 270 euros.' }]);
    expect(score.foreign).toEqual(['270']);
  });

  test('are not standing where the snapshot has the right one', () => {
    const conversation = ['I paid 250 euros.'];

    expect(
      scoreInvention({
        alterations,
        statements: conversation,
        conversation,
        lines: conversation,
      }).standing,
    ).toEqual([]);
  });

  test('that somebody said elsewhere are mixed up', () => {
    const score = scoreInvention({
      alterations,
      statements: ['I paid 270 euros.'],
      conversation: ['I paid 250 euros.', 'Room 270.'],
      lines: ['I paid 250 euros.', 'Room 270.'],
    });

    expect(score).toMatchObject({ foreign: [], standing: [], mixedUp: ['I paid 270 euros.'] });
  });

  test('that make a statement which somebody said elsewhere cannot be told from that', () => {
    const lines = ['economy: 12', 'economy: 14'];
    const score = scoreInvention({
      alterations: [{ from: 'economy: 12', to: 'economy: 14' }],
      statements: ['economy: 14'],
      conversation: lines,
      lines,
    });

    expect(score).toMatchObject({ mixedUp: [], saidElsewhere: ['economy: 14'] });
  });

  test('are looked for in all that is said, also in what tools return', () => {
    expect(textsIn([{ parts: [{ functionResponse: { response: { price: 87 } } }] }, 'a'])).toEqual([
      '87',
      'a',
    ]);
  });
});
