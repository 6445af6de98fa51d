import { describe, expect, test } from 'vitest';
import { answerFromContext } from '#infra/fake-gemini/answers/answer.ts';
import type { RequestContent } from '#infra/fake-gemini/server/request.ts';

function turn(role: string, ...texts: string[]): RequestContent {
  return { role, parts: texts.map((text) => ({ text })) };
}

const history = [
  turn('user', 'I live in Gdańsk. My locker code is 7731, and the bike is green.'),
  turn('model', 'Noted.'),
  turn('user', '私の猫の名前はミケです。誕生日は5月3日です。'),
  turn('model', 'Noted.'),
  turn('user', '내 예약 번호는 KX-99120 입니다.\n공항은 김포입니다.'),
  turn('model', 'Noted.'),
  turn('user', '我的航班是CA1234。座位在12排。'),
  turn('model', 'Noted.'),
  {
    role: 'user',
    parts: [{ functionResponse: { name: 'book', response: { hotel: 'Grand Marmot', room: 412 } } }],
  },
];

describe('answering from the context', () => {
  test.each([
    ['What is my locker code?', 'My locker code is 7731, and the bike is green.'],
    ['Where do I live?', 'I live in Gdańsk.'],
    ['猫の名前は何ですか？', '私の猫の名前はミケです。'],
    ['내 예약 번호가 뭐야?', '내 예약 번호는 KX-99120 입니다.'],
    ['我的座位在哪里？', '座位在12排。'],
    ['Which hotel?', '"hotel": "Grand Marmot", "room": 412'],
    ['What is the wavelength of sodium light?', 'I do not know.'],
    ['My dog is called Rex.', 'Noted.'],
  ])('the fake Gemini answers from the context: %s → %s', (question, answer) => {
    expect(answerFromContext([...history, turn('user', question)])).toBe(answer);
  });

  test('the fake Gemini does not answer a repeated question with that question', () => {
    const contents = [...history, turn('user', 'Is the bike red?'), turn('model', 'Hm.')];

    const answer = answerFromContext([...contents, turn('user', 'Is the bike red?')]);

    expect(answer).toContain('the bike is green');
  });

  test('the fake Gemini prefers the newer of two equal statements', () => {
    const contents = [
      turn('user', 'The meeting room is A.'),
      turn('model', 'Noted.'),
      turn('user', 'The meeting room is B.'),
      turn('model', 'Noted.'),
      turn('user', 'What is the meeting room?'),
    ];

    expect(answerFromContext(contents)).toBe('The meeting room is B.\nThe meeting room is A.');
  });

  test('the fake Gemini finds a fact in a snapshot with its characters unescaped', () => {
    const snapshot =
      '<state_snapshot><key_knowledge>\n- the rule is a &lt; b &amp;&amp; c\n</key_knowledge></state_snapshot>';

    const answer = answerFromContext([
      turn('user', snapshot),
      turn('model', 'Understood.'),
      turn('user', 'What is the rule?'),
    ]);

    expect(answer).toBe('the rule is a < b && c');
  });

  test('the fake Gemini searches a prompt of 600 k tokens to its end', () => {
    const filler = Array.from(
      { length: 30_000 },
      (_, index) =>
        `Message ${index} speaks of the weather, trains and the code of conduct at length.`,
    );
    const contents = [
      turn('user', filler.join('\n')),
      turn('user', 'The vault code is 99-17.'),
      turn('user', 'What is the vault code?'),
    ];

    const answer = answerFromContext(contents);

    expect(answer).toBe('The vault code is 99-17.');
  });
});
