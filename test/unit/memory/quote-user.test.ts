import { describe, expect, test } from 'vitest';
import { quoteUser } from '#shared/memory/quote-user.ts';
import { pastesIn, tongues } from '#test/support/attacks/tongues.ts';
import { workRatio } from '#test/support/work-ratio.ts';

const at = new Date('2026-03-02T10:00:00.000Z');

/** The quotation of words from messages with one text each. */
const quote = (words: string, ...texts: string[]) =>
  quoteUser(
    words,
    texts.map((text, index) => ({ seq: index + 1, at, texts: [text] })),
  );

const sister = 'My sister Ana is allergic to hazelnuts.';

describe('the user’s words', () => {
  test.each([
    ['somebody else’s fact', sister],
    ['what may be', 'If I move to Berlin I will need a flat.'],
    ['Thai', 'ฉันแพ้ถั่วลิสงและอาศัยอยู่ที่กรุงเทพ'],
  ])('the user’s words are quoted as they are: %s', (_, text) => {
    const quotation = { seq: 1, at, text, mayBeOthers: false, isPartOfShown: false };
    expect(quote(text, text)).toEqual(quotation);
  });

  test.each([
    ['of another person', 'The user is allergic to hazelnuts.', [sister]],
    ['in the first person', 'I am allergic to hazelnuts.', [sister]],
    ['without a word in the middle', 'I eat meat.', ['I never eat meat.']],
    ['of two messages', 'I live in Rome. I have a dog.', ['I live in Rome.', 'I have a dog.']],
    ['of two sentences apart', 'I have a dog. It is red.', ['I have a dog. And a car. It is red.']],
    ['of nothing but signs', '…', ['Yes … no.']],
  ])('words are not the user’s: %s', (_, words, texts) => {
    expect(quote(words, ...texts)).toBeUndefined();
  });

  test.each([
    ['case', 'i LIVE in rome', 'I live in Rome.'],
    ['quotation marks', 'I don\'t like "Cats".', 'I don’t like “Cats”.'],
    ['the form of accents', 'Je pre\u0301fe\u0300re le the\u0301', 'Je préfère le thé.'],
    ['signs at the edges', '"I live in Rome!"', 'I live in Rome.'],
  ])(
    'words are recognised whatever their %s, and kept as the user wrote them',
    (_, words, text) => {
      expect(quote(words, text)?.text).toBe(text);
    },
  );

  test.each([
    [
      'the rest of a sentence',
      'I eat meat',
      'I eat meat only on Sundays. Bye.',
      'I eat meat only on Sundays.',
    ],
    [
      'what stands before',
      'I will need a flat',
      'Well. If I move I will need a flat.',
      'If I move I will need a flat.',
    ],
    [
      'both sentences',
      'in Rome. I have',
      'Hi! I live in Rome. I have a dog. Bye.',
      'I live in Rome. I have a dog.',
    ],
    [
      'what stands before a title in Cyrillic',
      'Иванов мой врач',
      'Неправда, что Проф. Иванов мой врач.',
      'Неправда, что Проф. Иванов мой врач.',
    ],
    [
      'who is quoted',
      'I love meat',
      'My brother says: “I hate fish. I love meat.” Funny.',
      'My brother says: “I hate fish. I love meat.”',
    ],
  ])('a quotation has whole sentences: %s', (_, ...[words, text, sentences]) => {
    expect(quote(words, text)?.text).toBe(sentences);
  });
});

describe('words that may be somebody else’s', () => {
  test.each([
    ['a second text of the message', 'I live in Rome.', ['I live in Rome.', 'Hello.']],
    [
      'a message that nobody types',
      'I live in Rome.',
      [`I live in Rome. ${'Bees fly. '.repeat(60)}`],
    ],
    ['a quotation in single marks', 'I hate fish.', ["He said 'I hate fish.' to me."]],
    ...['‹›', '＂＂', '《》', '〝〞', '｢｣', '❝❞'].map((marks): [string, string, string[]] => [
      `a quotation in ${marks}`,
      'I love fish.',
      [`He says ${marks.charAt(0)}I hate meat. I love fish. Bye.${marks.charAt(1)}`],
    ]),
    ['a tag', 'I live in Rome.', ['<mail> I live in Rome. </mail>']],
  ])('words may be somebody else’s in %s', (_, words, texts) => {
    expect(quoteUser(words, [{ seq: 1, at, texts }])?.mayBeOthers).toBe(true);
  });

  test.each(tongues.map(({ name }) => name))(
    'S8: an order in a text that the user shows may be somebody else’s in %s',
    (language) => {
      const { order, texts } = pastesIn(language);

      const believed = Object.entries(texts).filter(
        ([, text]) => quote(order, text)?.mayBeOthers !== true,
      );

      expect(believed.map(([way]) => way)).toEqual([]);
    },
  );

  test.each(['"', '“', '„', '«', '. ', 'A. ', 'A b. ', '"A. ', 'a', '\n', '。', '「。'])(
    'S22: quoting from %j over and over takes time in proportion to the text',
    (piece) => {
      const ended = (length: number) =>
        `${piece.repeat(length / piece.length).slice(0, length)} needle`;
      const ratio = workRatio((text) => quote('needle', text), ended(1_900), ended(19_000));

      expect(ratio).toBeLessThan(12);
    },
  );
});
