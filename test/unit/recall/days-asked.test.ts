import { describe, expect, test } from 'vitest';
import { dayWeights } from '#shared/recall/days-asked.ts';

/** A Wednesday. */
const now = new Date('2026-06-10T20:00:00.000Z');

const countsMore = (message: string, day: string): boolean =>
  (dayWeights(message, now)?.(new Date(`${day}T12:00:00.000Z`)) ?? 1) > 1;

describe('what was said on a day that the message names', () => {
  test.each([
    ['What did I eat yesterday?', '2026-06-09', '2026-06-08'],
    ['What was it that I said on Friday?', '2026-06-05', '2026-06-04'],
    ['Who called on Wednesday?', '2026-06-03', '2026-06-02'],
    ['Where was I in May?', '2026-05-20', '2026-04-20'],
    ['What did I buy on 3 March?', '2026-03-03', '2026-03-04'],
    ['What was my plan in 2024?', '2024-11-02', '2025-11-02'],
    ['昨天我吃了什么？', '2026-06-09', '2026-06-08'],
    ['2024년에 뭐 했지?', '2024-03-01', '2025-03-01'],
    ['Was war am 8.5.2026?', '2026-05-08', '2026-05-09'],
    ['What happened on 5/8?', '2026-05-08', '2026-05-09'],
    ['What happened on 5/8?', '2025-08-05', '2025-08-06'],
    ['What did I buy on March 3rd, 2025?', '2025-03-03', '2026-03-03'],
    ['What did I promise on the 21st?', '2026-05-21', '2026-05-22'],
    ['Where did we go two months ago?', '2026-04-01', '2026-05-01'],
    ['Where did I live 3 years ago?', '2023-01-15', '2024-01-15'],
    ['Where was I this month?', '2026-06-01', '2026-05-31'],
    ['Who called last Friday?', '2026-05-29', '2026-06-01'],
    ['Wer hat letzten Montag angerufen?', '2026-06-08', '2026-06-07'],
    ['5月3日に何を買いましたか？', '2026-05-03', '2026-05-04'],
    ['先週の金曜日に誰が来ましたか？', '2026-06-05', '2026-06-09'],
  ])('recall ranks text of the day that the message names higher: %s', (message, on, off) => {
    expect(countsMore(message, on)).toBe(true);
    expect(countsMore(message, off)).toBe(false);
  });

  test.each([
    'May I ask where the march led?',
    'It costs 2024 dollars.',
    'A set of knives',
    'agua de mar',
    'The sun is out, and I sat down.',
    'It took 50%, version 1.2.3.4',
    '',
  ])('recall finds no day where the words mean something else: %s', (message) => {
    expect(dayWeights(message, now)).toBeUndefined();
  });

  test('recall finds no day that is told from today where today is not known', () => {
    expect(dayWeights('What did we decide last week?')).toBeUndefined();
    expect(dayWeights('What did we decide in May?')).toBeDefined();
  });
});
