import { describe, expect, test } from 'vitest';
import { constraintsIn } from '../../../../shared/compaction/facts/detect-constraints.ts';
import type { Speaker } from '../../../../shared/compaction/facts/utterance.ts';

const found = (text: string, speaker: Speaker = 'user') =>
  constraintsIn({ seq: 1, speaker, text, at: new Date(0) }).map(({ sentence }) => sentence);

describe('constraintsIn', () => {
  test.each([
    'Never call me before noon.',
    'Please always answer in French.',
    'Please answer always in short sentences.',
    'Keep your answers under 100 words.',
    "Don't share my address with anyone.",
    'You must not use any external library.',
    "I'm allergic to peanuts.",
    'My son is vegetarian.',
    'I only fly direct.',
    "I'd prefer an aisle seat.",
    'I want a hotel for at most 120 euros.',
    'I do not want travel insurance.',
    'From now on, write in lower case.',
    'Could you please always cite your sources?',
    'The hotel must have a gym.',
    'Bitte nie vor neun Uhr anrufen.',
    'Ich bin allergisch gegen Nüsse.',
    'Ich möchte höchstens 80 Euro ausgeben.',
    'Je suis allergique aux arachides.',
    "N'utilise jamais mon nom.",
    'Soy alérgica a los mariscos.',
    'Nunca reserves vuelos nocturnos.',
    'Não quero voos com escala.',
    'Sono allergico al lattosio.',
    'Non voglio camere al piano terra.',
    '이메일로 연락하지 마세요.',
    '저는 새우 알레르기가 있어요.',
    '항상 존댓말로 대답해 주세요.',
    '電話しないでください。',
    '必ず敬語で返事してください。',
    'エビは食べられません。',
    '不要给我打电话。',
    '我对花生过敏。',
    '价格必须在500元以内。',
  ])('%j', (text) => {
    expect(found(text)).toEqual([text]);
  });

  test.each([
    'I never knew that you could cook.',
    "Don't worry about it.",
    'Never mind.',
    'It was always fun with you.',
    'Have you never been to Rome?',
    'She said "never call me again".',
    'It must be hard for you.',
    'I always loved the sea.',
    'Always happy to help!',
    '> Never write to this address.',
    '`do not edit`',
    '걱정하지 마세요.',
    '気にしないでください。',
    '要不要一起去？',
    '不要紧。',
    '你必须去吗？',
  ])('not %j', (text) => {
    expect(found(text)).toEqual([]);
  });

  test('takes none of a code fence', () => {
    expect(found('```\nnever call this\nalways free it\n```')).toEqual([]);
  });

  test.each(['model', 'call', 'tool'] as const)('takes none of a %s', (speaker) => {
    expect(found('Never call me before noon.', speaker)).toEqual([]);
  });

  test('takes the sentence alone out of a message', () => {
    expect(found('Hi! Never call me before noon. See you.')).toEqual([
      'Never call me before noon.',
    ]);
  });
});
