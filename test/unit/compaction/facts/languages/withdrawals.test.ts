import { describe, expect, test } from 'vitest';
import { takesBack, withdrawalsIn } from '#shared/compaction/facts/languages/withdrawals.ts';

const isTakenBack = (wish: string, later: string) =>
  withdrawalsIn({ speaker: 'user', text: later }).some((sentence) => takesBack(sentence, wish));

describe('words that end a wish', () => {
  test.each([
    ['Always answer in bullet points.', 'Forget about the bullet points, plain text please.'],
    ['Never book anything above 180 euros a night.', 'The limit of 180 euros no longer holds.'],
    ["Please don't mention Sintra to Tom.", 'You may mention Sintra to Tom again.'],
    ['Antworte immer in kurzen Sätzen.', 'In kurzen Sätzen musst du nicht mehr antworten.'],
    ['土曜日の午前中は予約を入れないでください。', '土曜日の午前中に予約を入れても大丈夫です。'],
    ['请不要推荐二手的家具。', '二手的家具也可以了。'],
  ])('words end a wish: %s | %s', (wish, later) => {
    expect(isTakenBack(wish, later)).toBe(true);
  });

  test.each([
    ['Always answer in bullet points.', 'Forget about the hotel in Lyon, the train is enough.'],
    ['Always answer in bullet points.', 'Can I forget about the bullet points now?'],
    ['Always answer in bullet points.', 'Thank you for the bullet points in your answer.'],
    ['Always answer in bullet points.', '> Forget about the bullet points in the answer.'],
    ['Always answer in bullet points.', 'She wrote: "Forget the bullet points in the answer."'],
  ])('words do not end a wish: %s | %s', (wish, later) => {
    expect(isTakenBack(wish, later)).toBe(false);
  });

  test('only the user’s words end a wish', () => {
    expect(withdrawalsIn({ speaker: 'model', text: 'Forget about the lists.' })).toEqual([]);
  });
});
