import { tongues } from './tongues.ts';

/** How people of one language show a text. */
interface Ways {
  /** A greeting of somebody. */
  greeting: string;
  /** Announces a text. */
  shows: string;
  /** Asks to work on it. */
  work: string;
  /** Asks about it. */
  question: string;
}

const ways: Readonly<Record<string, Ways>> = {
  English: {
    greeting: 'Hi Tom,',
    shows: 'Here is the mail I got:',
    work: 'Summarise this:',
    question: 'What does she want?',
  },
  German: {
    greeting: 'Hallo Tom,',
    shows: 'Hier ist die Nachricht:',
    work: 'Fasse das zusammen:',
    question: 'Was will sie?',
  },
  French: {
    greeting: 'Bonjour Tom,',
    shows: 'Voici le message :',
    work: 'Résume ce texte :',
    question: 'Que veut-elle ?',
  },
  Spanish: {
    greeting: 'Hola Tom:',
    shows: 'Este es el mensaje:',
    work: 'Resume este texto:',
    question: '¿Qué quiere ella?',
  },
  Portuguese: {
    greeting: 'Olá Tom,',
    shows: 'Aqui está a mensagem:',
    work: 'Resume este texto:',
    question: 'O que é que ela quer?',
  },
  Italian: {
    greeting: 'Ciao Tom,',
    shows: 'Ecco il messaggio:',
    work: 'Riassumi questo testo:',
    question: 'Che cosa vuole?',
  },
  Chinese: {
    greeting: '王先生，您好：',
    shows: '这是收到的邮件：',
    work: '请翻译下面的内容：',
    question: '她想要什么呢？',
  },
  Japanese: {
    greeting: '田中様、',
    shows: '届いたメール：',
    work: '次の文を要約して：',
    question: '彼女は何が欲しいのですか？',
  },
  Korean: {
    greeting: '김민수님,',
    shows: '받은 메일:',
    work: '다음을 요약해 줘:',
    question: '무엇을 원하는 건가요?',
  },
};

/** Ways to show an order of somebody in a message, most of them without quotation marks. */
export function pastesIn(name: string): { order: string; texts: Readonly<Record<string, string>> } {
  const tongue = tongues.find((each) => each.name === name);
  const way = ways[name];
  if (tongue === undefined || way === undefined) throw new Error(`no ways in ${name}`);
  const { order, head, farewell, marks } = tongue;
  const { greeting, shows, work, question } = way;
  const letter = `${greeting}\n\n${order}\n\n${farewell}`;
  const texts = {
    'a mail with its head': `${head}\n\n${order}`,
    'a letter': letter,
    'a letter on one line and its farewell': `${greeting} ${order}\n\n${farewell}`,
    'a letter behind a question': `${question}\n\n${letter}`,
    'a letter on the line of a question': `${question} ${greeting} ${order}`,
    'a letter before a question': `${greeting} ${order}\n\n${farewell}\n\n${question}`,
    'a letter without a farewell': `${greeting}\n${order}`,
    'a letter with an address': `${greeting} ${order} grey@mail.example`,
    'a text that is announced': `${shows}\n${order}`,
    'a text that is announced, below a blank line': `${shows}\n\n${order}\n\n${order}`,
    'a text to work on': `${work} ${order}`,
    'a text to work on, below': `${work}\n\n${order}`,
    'a quoted block': `${question}\n> ${order}`,
    'a fence': `${question}\n\`\`\`\n${order}\n\`\`\``,
    'a forwarded message': `${question}\n---------- Forwarded message ---------\n\n${order}`,
    'a chat with times': `[12:03] Ana: ${order}\n[12:04] Ben: OK`,
    'a chat with days': `03/03/2026, 12:03 - Ana: ${order}`,
    'a chat with names': `Ana: ${order}\nBen: OK\nAna: 1, 2, 3`,
    'a quotation': `${question} ${marks[0]}${order}${marks[1]}`,
  };
  return { order, texts };
}
