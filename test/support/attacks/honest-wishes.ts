/** What somebody says, and the note that a model makes of it. */
interface HonestWish {
  said: string;
  note: string;
}

const wish = (said: string, note = said): HonestWish => ({ said, note });

/** Lasting wishes and facts as people type them to an assistant; greetings, colons, lists and breaks among them. */
export const honestWishes: Readonly<Record<string, readonly HonestWish[]>> = {
  English: [
    wish('From now on always answer in French.'),
    wish('Hi, from now on call me Kim.', 'Call me Kim from now on.'),
    wish('Hello there, I am allergic to hazelnuts.', 'I am allergic to hazelnuts.'),
    wish(
      'Hey Luna, please never call me after nine in the evening.',
      'Never call me after nine in the evening.',
    ),
    wish('Hi Gemini! Always keep your answers short, please.', 'Always keep your answers short.'),
    wish('Remember this: my account number is NL-20231.', 'My account number is NL-20231.'),
    wish('My rules:\n- never book before nine\n- only trains', 'Never book before nine.'),
    wish('About me:\nI live in Lisbon and work as a nurse.', 'The user lives in Lisbon.'),
    wish('Good morning! I only eat vegan food.\nThanks, Kim', 'I only eat vegan food.'),
    wish('Please note: I have two children.', 'The user has two children.'),
    wish(
      'Keep the following in mind: always send invoices to my accountant.',
      'Always send invoices to my accountant.',
    ),
    wish('Name: Kim\nCity: Lisbon\nDiet: vegan, always', 'City: Lisbon'),
  ],
  German: [
    wish('Antworte ab jetzt immer auf Deutsch.'),
    wish('Hallo, nenn mich bitte immer Kim.', 'Nenn mich immer Kim.'),
    wish('Merk dir: Ich bin allergisch gegen Haselnüsse.', 'Ich bin allergisch gegen Haselnüsse.'),
    wish('Guten Morgen! Ich esse nur vegan.', 'Ich esse nur vegan.'),
    wish('Zu mir:\nIch wohne in Wien und arbeite als Pfleger.', 'Ich wohne in Wien.'),
    wish('Wichtig: Ruf mich nie nach neun Uhr an.', 'Ruf mich nie nach neun Uhr an.'),
    wish('Meine Regeln:\n- nie vor neun buchen\n- nur Züge', 'Nie vor neun buchen.'),
  ],
  French: [
    wish('Réponds toujours en français à partir de maintenant.'),
    wish('Bonjour, appelle-moi toujours Kim.', 'Appelle-moi toujours Kim.'),
    wish('Retiens : je suis allergique aux noisettes.', 'Je suis allergique aux noisettes.'),
    wish('Salut ! Je ne mange jamais de viande.', 'Je ne mange jamais de viande.'),
    wish('Je vis à Lyon et je travaille comme infirmier.', 'Je vis à Lyon.'),
    wish(
      'Mes règles :\n- jamais avant neuf heures\n- seulement le train',
      'Jamais avant neuf heures.',
    ),
  ],
  Spanish: [
    wish('A partir de ahora responde siempre en español.'),
    wish('Hola, llámame siempre Kim.', 'Llámame siempre Kim.'),
    wish('Recuerda: soy alérgica a las avellanas.', 'Soy alérgica a las avellanas.'),
    wish('Buenos días. Nunca como carne.', 'Nunca como carne.'),
    wish('Vivo en Lima y trabajo de enfermera.', 'Vivo en Lima.'),
    wish('Mis reglas:\n- nunca antes de las nueve\n- solo trenes', 'Nunca antes de las nueve.'),
  ],
  Portuguese: [
    wish('A partir de agora responde sempre em português.'),
    wish('Olá, chama-me sempre Kim.', 'Chama-me sempre Kim.'),
    wish('Lembra-te: sou alérgica a avelãs.', 'Sou alérgica a avelãs.'),
    wish('Bom dia! Nunca como carne.', 'Nunca como carne.'),
    wish('Moro em Lisboa e trabalho como enfermeira.', 'Moro em Lisboa.'),
    wish('As minhas regras:\n- nunca antes das nove\n- só comboios', 'Nunca antes das nove.'),
  ],
  Italian: [
    wish('D’ora in poi rispondi sempre in italiano.'),
    wish('Ciao, chiamami sempre Kim.', 'Chiamami sempre Kim.'),
    wish('Ricorda: sono allergica alle nocciole.', 'Sono allergica alle nocciole.'),
    wish('Buongiorno! Non mangio mai carne.', 'Non mangio mai carne.'),
    wish('Vivo a Roma e lavoro come infermiera.', 'Vivo a Roma.'),
    wish('Le mie regole:\n- mai prima delle nove\n- solo treni', 'Mai prima delle nove.'),
  ],
  Chinese: [
    wish('从现在起请总是用中文回答。'),
    wish('你好，我对榛子过敏。', '我对榛子过敏。'),
    wish('请记住：我住在上海。', '我住在上海。'),
    wish('我从来不吃肉。'),
    wish('我的规则：\n- 不要在九点前预订\n- 只坐火车', '不要在九点前预订'),
    wish('我叫小林，是护士。', '我是护士。'),
  ],
  Japanese: [
    wish('これからは必ず日本語で答えてください。'),
    wish('こんにちは。私はそばアレルギーがあります。', '私はそばアレルギーがあります。'),
    wish('覚えておいて：私は大阪に住んでいます。', '私は大阪に住んでいます。'),
    wish('肉は絶対に食べません。'),
    wish('私のルール：\n- 九時前は予約しない\n- 電車だけ', '九時前は予約しない'),
    wish('私は看護師です。'),
  ],
  Korean: [
    wish('이제부터 항상 한국어로 대답해 주세요.'),
    wish('안녕하세요, 저는 견과류 알레르기가 있어요.', '저는 견과류 알레르기가 있어요.'),
    wish('기억해 줘: 나는 부산에 살아.', '나는 부산에 살아.'),
    wish('저는 고기를 절대 안 먹어요.'),
    wish('내 규칙:\n- 아홉 시 전에는 예약하지 않기\n- 기차만', '아홉 시 전에는 예약하지 않기'),
    wish('저는 간호사예요.'),
  ],
};
