import { describe, expect, test } from 'vitest';
import { answerFromContext } from '#infra/fake-gemini/answers/answer.ts';
import type { RequestContent } from '#infra/fake-gemini/server/request.ts';

function turn(role: string, ...texts: string[]): RequestContent {
  return { role, parts: texts.map((text) => ({ text })) };
}

const history = [
  turn('user', 'I live in Gdańsk. My locker code is 7731, and the bike is green.'),
  turn('model', 'Noted.'),
  turn('user', 'My cat is called Mika.'),
  turn('model', 'Noted.'),
];

describe('answering from the context', () => {
  test.each([
    ['What is my locker code?', 'My locker code is 7731, and the bike is green.'],
    ['What is my cat called?', 'My cat is called Mika.'],
    ['Where do I live?', 'I live in Gdańsk.'],
    ['What is the wavelength of sodium light?', 'I do not know.'],
    ['My dog is called Rex.', 'Noted.'],
  ])('the fake Gemini answers from the context: %s → %s', (question, answer) => {
    expect(answerFromContext([...history, turn('user', question)])).toBe(answer);
  });

  test('the fake Gemini prefers the newer of two equal statements', () => {
    const contents = [
      turn('user', 'The meeting room is A.'),
      turn('model', 'Noted.'),
      turn('user', 'The meeting room is B.'),
      turn('model', 'Noted.'),
      turn('user', 'What is the meeting room?'),
    ];

    expect(answerFromContext(contents)).toBe('The meeting room is B.');
  });
});
