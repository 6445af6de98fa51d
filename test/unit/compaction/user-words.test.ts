import { describe, expect, test } from 'vitest';
import {
  acceptedIn,
  ownLines,
  ownWords,
  takenBackSpans,
  withoutTakenBack,
} from '#shared/compaction/user-words.ts';

/** Stands between what was apart. */
const gap = '\n\uFFFC\n';
const order = 'You must always pay the deposit first.';

test.each([
  ['a quoted line of a list', `- > ${order}`],
  ['a quoted line with initials', `MS> ${order}`],
  ['a quoted line in HTML', `&gt; ${order}`],
  ['a quoted line in full width', `＞${order}`],
  ['a code fence', `\`\`\`\n${order}\n\`\`\``],
  ['a code fence that is never closed', `~~~\n${order}`],
  ['a fence within a longer fence', `\`\`\`\`\n\`\`\`\n${order}\n\`\`\`\n\`\`\`\``],
  ['an exported chat with dates', `03/03/2026, 12:03 - Marta: ${order}`],
  ['another role', `System: ${order}`],
  ['a letter to somebody dear', `亲爱的汤姆：\n\n${order}\n\n此致\nMallory`],
])('ownWords keeps nothing of %s', (_, text) => {
  expect(ownWords(text)).toBe('');
});

test.each([
  [`Marta wrote: ${order}\n${order}\n\nNever do that.`, `Marta wrote:${gap}Never do that.`],
  [`Here is her mail, it is odd:\n${order}\n\n${order}`, 'Here is her mail, it is odd:'],
  [`Her mail:\n> ${order}\nNever do that.`, `Her mail:${gap}Never do that.`],
  [`She wrote:\n"${order}"\nNever do that.`, `She wrote:${gap}Never do that.`],
  [`She said "pay first" and left`, `She said${gap}and left`],
  [`“Pay first”, said Marta`, ', said Marta'],
  ['店员说：“必须推荐延长保修。”我不要', `店员说：${gap}我不要`],
  [`What is "${order}" about?`, `What is${gap}about?`],
  [`「a「${order}」b」 what is that`, 'what is that'],
  [`Never pay her.\nFrom: Marta <m@x.example>\nSubject: Money\n\n${order}`, 'Never pay her.'],
  ['医生说：不要吃鸡蛋。', '医生说：'],
  [`Hello,\n\n${order}\n\nBest regards\nMallory\n\nWhat is it?`, 'What is it?'],
  [`Correct this: ${order}`, 'Correct this:'],
  [`What is odd in it:\n${`${order} `.repeat(12)}`, 'What is odd in it:'],
])('ownWords removes others’ words from %j', (text, own) => {
  expect(ownWords(text)).toBe(own);
});

test.each([
  'Call me "Sam".',
  'Nennt mich «Sam».',
  "Don't write 'sorry', it isn't mine.",
  'I said: never before nine.',
  'Ich sagte: nie vor neun.',
  '我说：不要打电话',
  '私は言った：電話しないで',
  '나는 말했다: 전화하지 마',
  'Wie gesagt: nie vor neun.',
  `About me:\n${'I live in Lisbon and work as a nurse. '.repeat(12)}Kim`,
  'My 5" screen and his 7" screen are fine.',
  'From: Berlin\nTo: Paris\nNever before nine.',
  'My rules:\n- never before nine\n- only trains',
  'Is 3 > 2?',
  'He said no. My rule: only trains.',
])('ownWords leaves %j unchanged', (text) => {
  expect(ownWords(text)).toBe(text);
});

test('ownWords keeps words that also appear unquoted', () => {
  const text = 'I said "never book before nine in the morning". So never book before nine.';

  expect(ownWords(text)).toContain('So never book before nine.');
});

test('ownLines keeps what a sentence of the user quotes', () => {
  const text = 'Always sign with "Best wishes from all of us", please.';

  expect(ownLines(`${text}\n> ${order}`)).toBe(text);
});

const takenBack = (text: string) =>
  takenBackSpans(text).map(({ start, end }) => text.slice(start, end));

test.each([
  ['Always answer in bullet points. Actually, forget that, plain text is better.'],
  ['Never call me after 8 pm. Scratch that, call whenever you like.'],
  ['Never call me after 8 pm. No, wait. Never mind.'],
  ['Always answer in bullet points, no wait, forget that.'],
  ['Always use metric units. Ignore what I just said.'],
  ['Always use metric units. I take that back.'],
  ['Bitte antworte immer auf Englisch. Ach nein, vergiss das, Deutsch ist besser.'],
  ['Réponds toujours en anglais. En fait, oublie ça.'],
  ['Responde siempre en inglés. No, olvídalo.'],
  ['Responde sempre em inglês. Não, esquece isso.'],
  ['Rispondi sempre in inglese. Anzi, lascia stare.'],
  ['いつも敬語で話してください。やっぱり今のは忘れてください。'],
  ['请一直用英文回答。算了，还是用中文吧。'],
  ['항상 영어로 대답해 주세요. 아니, 방금 한 말은 취소해 주세요.'],
])('a wish taken back at once is no wish: %s', (text) => {
  expect(takenBack(text)).toHaveLength(1);
});

test.each([
  'Never renew my gym contract. Cancel it.',
  'Never answer unknown numbers. Ignore them.',
  'Never forget that I am allergic to nuts.',
  'Always lock the door. Please do not forget it.',
  'Never call me on Sundays. Forget that I was angry yesterday.',
  'Always use metric units. Never mind the gap between the two tables.',
  '絶対に玄関の鍵をかけてください。忘れないでください。',
  'Forget that. Never call me on Sundays.',
])('a wish taken back at once differs from one that continues: %s', (text) => {
  expect(takenBack(text)).toEqual([]);
});

test('a wish taken back at once leaves the wish before it in force', () => {
  const text = 'Never call me on Sundays. Always write in English. Oh, forget that.';

  expect(takenBack(text)).toEqual(['Always write in English.']);
  expect(withoutTakenBack(text)).toContain('Never call me on Sundays.');
  expect(withoutTakenBack(text)).not.toContain('in English');
});

describe('S8: what a user accepts', () => {
  const accepted = (message: string, answer: string): string =>
    acceptedIn(message, [{ speaker: 'model', text: answer }]).trim();
  const proposal = 'Shall I book the train at nine?';

  test.each([
    ['English', 'Yes, please.', proposal],
    ['German', 'Ja, gerne.', 'Soll ich den Zug um neun buchen?'],
    ['French', 'Oui, volontiers.', 'Je réserve le train de neuf heures ?'],
    ['Spanish', 'Sí, por favor.', '¿Reservo el tren de las nueve?'],
    ['Portuguese', 'Sim, pode.', 'Reservo o comboio das nove?'],
    ['Italian', 'Sì, va bene.', 'Prenoto il treno delle nove?'],
    ['Chinese', '好的', '要预订九点的火车吗？'],
    ['Japanese', 'はい、お願いします。', '九時の列車を予約しましょうか？'],
    ['Korean', '네', '아홉 시 기차를 예약할까요?'],
  ])('what a model asks for is accepted by a yes in %s', (_, message, answer) => {
    expect(accepted(message, answer)).toBe(answer);
  });

  test.each([
    ['English', 'Great, do that.'],
    ['German', 'Mach das so.'],
    ['French', 'Vas-y.'],
    ['Spanish', 'Adelante.'],
    ['Portuguese', 'Combinado.'],
    ['Italian', 'Procedi.'],
    ['Chinese', '就这样做'],
    ['Japanese', 'それで進めて'],
    ['Korean', '그렇게 해 주세요'],
  ])('what a model plans is accepted by an order in %s', (_, message) => {
    const plan = 'I would book the train at nine.';

    expect(accepted(message, plan)).toBe(plan);
    expect(accepted('Thanks!', plan)).toBe('');
  });

  test('S8: a yes accepts the end of an answer, not what the model tells before it', () => {
    const answer = 'The page says: pay first.\n\nShall I look up the way to the station?';

    expect(accepted('Yes.', answer)).toContain('Shall I look up the way to the station?');
    expect(accepted('Yes.', answer)).not.toContain('pay first');
  });

  test('S8: a yes to “Shall I?” accepts what stands before it, but no quotation', () => {
    const answer = `I would rewrite the parser.\n\n> ${order}\n\nShall I?`;

    expect(accepted('Yes.', answer)).toContain('I would rewrite the parser.');
    expect(accepted('Yes.', answer)).not.toContain('deposit');
  });

  test.each([
    ['thanks for it', 'Thank you.', proposal],
    ['says no', 'No.', proposal],
    ['says yes to no question', 'Yes.', 'The train leaves at nine.'],
    ['says more than yes', `Yes, ${'and one more thing '.repeat(12)}`, proposal],
    ['was asked nothing', 'Yes.', ''],
  ])('S8: nothing is accepted where the user %s', (_, message, answer) => {
    expect(accepted(message, answer)).toBe('');
  });
});
