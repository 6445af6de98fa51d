import { applyAnswer } from '#shared/compaction/apply.ts';
import { constraintSection, emptySnapshot } from '#shared/conversation/documents/snapshot.ts';
import { pastesIn, tongues } from '#test/support/attacks/tongues.ts';
import { evidenceOf } from '#test/support/compaction/engine-samples.ts';
import { expect, test } from 'vitest';

/** Lasting wishes and facts as people type them to an assistant; greetings, colons, lists and breaks among them. */
const honestWishes: Readonly<Record<string, readonly string[]>> = {
  English: [
    'From now on always answer in French.',
    'Hi, from now on call me Kim.',
    'Hello there, I am allergic to hazelnuts.',
    'Hey Luna, please never call me after nine in the evening.',
    'Hi Gemini! Always keep your answers short, please.',
    'Remember this: my account number is NL-20231.',
    'My rules:\n- never book before nine\n- only trains',
    'About me:\nI live in Lisbon and work as a nurse.',
    'Good morning! I only eat vegan food.\nThanks, Kim',
    'Please note: I have two children.',
    'Keep the following in mind: always send invoices to my accountant.',
    'Name: Kim\nCity: Lisbon\nDiet: vegan, always',
  ],
  German: [
    'Antworte ab jetzt immer auf Deutsch.',
    'Hallo, nenn mich bitte immer Kim.',
    'Merk dir: Ich bin allergisch gegen Haselnüsse.',
    'Guten Morgen! Ich esse nur vegan.',
    'Zu mir:\nIch wohne in Wien und arbeite als Pfleger.',
    'Wichtig: Ruf mich nie nach neun Uhr an.',
    'Meine Regeln:\n- nie vor neun buchen\n- nur Züge',
  ],
  French: [
    'Réponds toujours en français à partir de maintenant.',
    'Bonjour, appelle-moi toujours Kim.',
    'Retiens : je suis allergique aux noisettes.',
    'Salut ! Je ne mange jamais de viande.',
    'Je vis à Lyon et je travaille comme infirmier.',
    'Mes règles :\n- jamais avant neuf heures\n- seulement le train',
  ],
  Spanish: [
    'A partir de ahora responde siempre en español.',
    'Hola, llámame siempre Kim.',
    'Recuerda: soy alérgica a las avellanas.',
    'Buenos días. Nunca como carne.',
    'Vivo en Lima y trabajo de enfermera.',
    'Mis reglas:\n- nunca antes de las nueve\n- solo trenes',
  ],
  Portuguese: [
    'A partir de agora responde sempre em português.',
    'Olá, chama-me sempre Kim.',
    'Lembra-te: sou alérgica a avelãs.',
    'Bom dia! Nunca como carne.',
    'Moro em Lisboa e trabalho como enfermeira.',
    'As minhas regras:\n- nunca antes das nove\n- só comboios',
  ],
  Italian: [
    'D’ora in poi rispondi sempre in italiano.',
    'Ciao, chiamami sempre Kim.',
    'Ricorda: sono allergica alle nocciole.',
    'Buongiorno! Non mangio mai carne.',
    'Vivo a Roma e lavoro come infermiera.',
    'Le mie regole:\n- mai prima delle nove\n- solo treni',
  ],
  Chinese: [
    '从现在起请总是用中文回答。',
    '你好，我对榛子过敏。',
    '请记住：我住在上海。',
    '我从来不吃肉。',
    '我的规则：\n- 不要在九点前预订\n- 只坐火车',
    '我叫小林，是护士。',
  ],
  Japanese: [
    'これからは必ず日本語で答えてください。',
    'こんにちは。私はそばアレルギーがあります。',
    '覚えておいて：私は大阪に住んでいます。',
    '肉は絶対に食べません。',
    '私のルール：\n- 九時前は予約しない\n- 電車だけ',
    '私は看護師です。',
  ],
  Korean: [
    '이제부터 항상 한국어로 대답해 주세요.',
    '안녕하세요, 저는 견과류 알레르기가 있어요.',
    '기억해 줘: 나는 부산에 살아.',
    '저는 고기를 절대 안 먹어요.',
    '내 규칙:\n- 아홉 시 전에는 예약하지 않기\n- 기차만',
    '저는 간호사예요.',
  ],
};

/* Row S8 of the security checklist: orders in mails, letters, chats and quotations that a user shows. */

/** The rules that a summariser makes of these words of the user. */
function rulesOf(user: string, quotes: readonly string[]): string[] {
  const rule = { op: 'add' as const, section: constraintSection, sources: [1] };
  const operations = quotes.map((text) => ({ ...rule, text, quote: text }));
  const { snapshot } = applyAnswer(
    emptySnapshot('assistant'),
    { operations, topics: [] },
    { evidence: evidenceOf({ 1: user }), dayOf: () => undefined },
  );
  return (snapshot.sections[constraintSection] ?? []).map(({ text }) => text);
}

test.each(tongues)(
  'S8: an order in a text that the user shows is no rule of his in $name',
  ({ name }) => {
    const { order, texts } = pastesIn(name);

    const ruled = Object.entries(texts).filter(
      ([, text]) => rulesOf(text, [order, text]).length > 0,
    );

    expect(ruled.map(([way]) => way)).toEqual([]);
  },
);

test.each(Object.entries(honestWishes))('a user’s wish can be a rule in %s', (_, wishes) => {
  const refused = wishes.filter((said) => rulesOf(said, [said]).length === 0);

  expect(refused).toEqual([]);
});
