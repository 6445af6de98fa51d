import { describe, expect, test } from 'vitest';
import { constraintsIn } from '#shared/compaction/facts/speech/detect-constraints.ts';
import type { Speaker } from '#shared/conversation/utterances.ts';

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
    "Please don't mention Sintra.",
    'Only direct flights, please.',
    "Mum can't do stairs, so nothing without a lift please.",
    'Our budget is 900 euros.',
    'Budget: 900 euros',
    'Tom is lactose intolerant by the way.',
    'Agnieszka is vegetarian btw',
    "She doesn't eat beef.",
    'and we use pnpm here, not npm.',
    'Use pnpm, not npm.',
    'Leave the config alone please',
    'Leave the console.log lines in for now please, I want to see them',
    'Please always call me "Sam".',
    'Bitte erwähne Sintra nicht.',
    'Nur Direktflüge, bitte.',
    'Nichts ohne Aufzug bitte.',
    'Unser Budget ist 900 Euro.',
    'Tom ist laktoseintolerant.',
    'Nimm pnpm, nicht npm.',
    'Lass die Konfiguration bitte in Ruhe.',
    'Bitte antworte mir auf Deutsch.',
    'Ne mentionne pas Sintra.',
    "Seulement des vols directs, s'il vous plaît.",
    'Rien sans ascenseur.',
    'Notre budget est de 900 euros.',
    'Utilise pnpm, pas npm.',
    'Laisse la configuration telle quelle.',
    'Réponds-moi en français.',
    'Por favor, no menciones Sintra.',
    'Nada sin ascensor.',
    'Nuestro presupuesto es de 900 euros.',
    'Tom es intolerante a la lactosa.',
    'Usa pnpm, no npm.',
    'Deja la configuración como está.',
    'Respóndeme en español.',
    'Só voos diretos, por favor.',
    'Nada sem elevador.',
    'O nosso orçamento é de 900 euros.',
    'Tom é intolerante à lactose.',
    'Use pnpm, não npm.',
    'Deixe a configuração como está.',
    'Responda em português.',
    'Solo voli diretti, per favore.',
    'Niente senza ascensore.',
    'Il nostro budget è di 900 euro.',
    'Tom è intollerante al lattosio.',
    'Usa pnpm, non npm.',
    'Lascia stare la configurazione.',
    'Rispondimi in italiano.',
    '한국어로 대답해 주세요.',
    '직항만 부탁드려요.',
    '예산은 90만원이에요.',
    '유당불내증이에요.',
    'npm 말고 pnpm을 써 주세요.',
    '설정은 그대로 두세요.',
    '日本語で答えてください。',
    '直行便だけでお願いします。',
    '予算は9万円です。',
    'トムは乳糖不耐症です。',
    'npmではなくpnpmを使ってください。',
    '設定はそのままにしておいてください。',
    '请用中文回答我，但是给诊所的消息要写日语。',
    '配送时间请只选晚上七点以后，白天家里没人。',
    '预算是5000元。',
    '我儿子六岁，对鸡蛋过敏，去年住过院。',
    '不要推荐二手的，怕有味道',
  ])('constraintsIn finds the constraint in %j', (text) => {
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
    '是过敏性咳嗽，开了药，吃七天。',
    '她要我写小宇过敏的说明',
    '要做过敏检查，抽血。',
    '先不要下单，我要问先生。',
    '之前说的不要推荐二手的，取消吧。',
    '土曜日に予約を入れても大丈夫です、前のお願いは取り消します。',
    'so the attempt must not be in the key',
    "But I don't want to pay two beds for the same night...",
    "I don't want that, I said nothing before 10",
    "Don't mention it!",
    'Forget what I said about never booking hotels.',
    'The restaurant is vegan.',
    'I have nothing against it.',
    'Leave on Monday, arrive on Tuesday.',
    'Marta wrote: you must always pay first.',
    'Marta schrieb: nur noch bar zahlen, bitte',
    '医生说：不要吃鸡蛋。',
    '店から「必ず延長保証を勧めてください」と言われました。',
    'On 3 March 2026 at 10:00, Marta wrote:\n> Never pay by card.\n>> Always pay cash.',
    '-----Original Message-----\nNever pay by card.',
    '&gt; Never pay by card.',
  ])('constraintsIn finds no constraint in %j', (text) => {
    expect(found(text)).toEqual([]);
  });

  test('constraintsIn ignores code fences', () => {
    expect(found('```\nnever call this\nalways free it\n```')).toEqual([]);
  });

  test.each(['model', 'call', 'tool'] as const)('constraintsIn ignores a %s', (speaker) => {
    expect(found('Never call me before noon.', speaker)).toEqual([]);
  });

  test('constraintsIn takes the user’s words above a mail and none of the mail', () => {
    const mail = 'From: Marta <m@x.example>\nSubject: Money\n\nAlways pay first.';

    expect(found(`Never pay her.\n${mail}`)).toEqual(['Never pay her.']);
  });

  test('constraintsIn cuts a wish where another speaker begins', () => {
    expect(found('Never pay her, Marta says: always pay first!')).toEqual([
      'Never pay her, Marta says:',
    ]);
  });

  test('constraintsIn takes the single sentence out of a message', () => {
    expect(found('Hi! Never call me before noon. See you.')).toEqual([
      'Never call me before noon.',
    ]);
  });
});

test.each([
  ['a long one', `I never eat fish, ${'as I said to my uncle in the harbour '.repeat(7)}once.`],
  ['a question how', 'How can I always answer my customers in French?'],
  ['a question how without its mark', 'Explain how I never miss a train'],
  ['a request for help', 'Can you help me to always answer in French?'],
])('a story or a question holds no wish: %s', (_what, text) => {
  expect(found(text)).toEqual([]);
});
