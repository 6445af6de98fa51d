import { describe, expect, test } from 'vitest';
import { constraintsIn } from '#shared/compaction/facts/speech/detect-constraints.ts';
import { takenBackSpans } from '#shared/compaction/facts/speech/taken-back.ts';

const takenBack = (text: string) =>
  takenBackSpans(text).map(({ start, end }) => text.slice(start, end));

const wishesIn = (text: string) =>
  constraintsIn({ seq: 1, speaker: 'user', text, at: new Date(0) }).map(({ sentence }) => sentence);

describe('a wish that is taken back at once', () => {
  test.each([
    ['Always answer in bullet points. Actually, forget that, plain text is better.'],
    ['Never call me after 8 pm. Scratch that, call whenever you like.'],
    ['Never call me after 8 pm. No, wait. Never mind.'],
    ['Always answer in bullet points, no wait, forget that.'],
    ['Always use metric units. Ignore what I just said.'],
    ['Bitte antworte immer auf Englisch. Ach nein, vergiss das, Deutsch ist besser.'],
    ['Réponds toujours en anglais. En fait, oublie ça.'],
    ['Responde siempre en inglés. No, olvídalo.'],
    ['Rispondi sempre in inglese. Anzi, lascia stare.'],
    ['いつも敬語で話してください。やっぱり今のは忘れてください。'],
    ['请一直用英文回答。算了，还是用中文吧。'],
    ['항상 영어로 대답해 주세요. 아니, 방금 한 말은 취소해 주세요.'],
  ])('a wish taken back at once is no wish: %s', (text) => {
    expect(takenBack(text)).toHaveLength(1);
    expect(wishesIn(text)).toEqual([]);
  });

  test.each([
    ['Never renew my gym contract. Cancel it.', 1],
    ['Never answer unknown numbers. Ignore them.', 1],
    ['Never forget that I am allergic to nuts.', 1],
    ['Always lock the door. Please do not forget it.', 2],
    ['Never call me on Sundays. Forget that I was angry yesterday.', 1],
    ['Always use metric units. Never mind the gap between the two tables.', 1],
    ['絶対に玄関の鍵をかけてください。忘れないでください。', 2],
    ['Forget that. Never call me on Sundays.', 1],
  ])('a wish taken back at once differs from one that continues: %s', (text, wishes) => {
    expect(takenBack(text)).toEqual([]);
    expect(wishesIn(text).length).toBeLessThanOrEqual(wishes);
  });

  test('a wish taken back at once leaves the wish before it in force', () => {
    const text = 'Never call me on Sundays. Always write in English. Oh, forget that.';

    expect(wishesIn(text)).toEqual(['Never call me on Sundays.']);
  });
});
