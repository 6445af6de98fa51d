import { describe, expect, test } from 'vitest';
import { dayWeights } from '#shared/recall/days-asked.ts';

/** A Wednesday. */
const now = new Date('2026-06-10T20:00:00.000Z');

const countsMore = (message: string, day: string): boolean =>
  (dayWeights(message, now)?.(new Date(`${day}T12:00:00.000Z`)) ?? 1) > 1;

describe('what was said on a day that the message names', () => {
  test.each([
    ['What did I eat yesterday?', '2026-06-09', '2026-06-08'],
    ['What did we decide last week?', '2026-06-03', '2026-06-09'],
    ['What was it that I said on Friday?', '2026-06-05', '2026-06-04'],
    ['Who called on Wednesday?', '2026-06-03', '2026-06-02'],
    ['Where was I in May?', '2026-05-20', '2026-04-20'],
    ['Where was I in May 2025?', '2025-05-20', '2026-05-20'],
    ['What did I buy on 3 March?', '2026-03-03', '2026-03-04'],
    ['What was my plan in 2024?', '2024-11-02', '2025-11-02'],
    ['Wo war ich im April?', '2026-04-02', '2026-05-02'],
    ['5月にどこへ行きましたか？', '2026-05-02', '2026-06-02'],
    ['昨天我吃了什么？', '2026-06-09', '2026-06-08'],
    ['2024년에 뭐 했지?', '2024-03-01', '2025-03-01'],
  ])('recall ranks text of the day that the message names higher: %s', (message, on, off) => {
    expect(countsMore(message, on)).toBe(true);
    expect(countsMore(message, off)).toBe(false);
  });

  test.each([
    'May I ask where the march led?',
    'It costs 2024 dollars.',
    'A set of knives',
    'agua de mar',
    '',
  ])('recall finds no day where the words mean something else: %s', (message) => {
    expect(dayWeights(message, now)).toBeUndefined();
  });
});
