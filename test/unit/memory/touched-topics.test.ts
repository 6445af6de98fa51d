import { touchedBy } from '#shared/memory/select-memory.ts';
import { describe, expect, test } from 'vitest';

describe('a topic', () => {
  test.each([
    ['flights', 'Which flight is the cheapest?'],
    ['flight', 'Compare two flights for me.'],
    ['FLIGHTS', 'any flights today'],
    ['meal plan', 'Plan my meals for the week.'],
    ['café', 'Find a cafe near me'],
    ['여행', '다음 달 여행계획을 세워줘'],
    ['出張', '来週の出張について'],
    ['饮食', '请记住我的饮食习惯'],
    ['コーヒーメーカー', '新しいコーヒーメーカーを買う'],
    ['ＡＢＣ', 'abc'],
  ])('a topic: %s is touched by "%s"', (topic, message) => {
    expect(touchedBy(message)(topic)).toBe(true);
  });

  test.each([
    ['flights', 'Which train is the cheapest?'],
    ['art', 'Start the article.'],
    ['meal plan', 'Plan my week.'],
    ['여행', '오늘 날씨 어때?'],
    ['コーヒーメーカー', 'コーヒーをください'],
    ['', 'anything'],
    ['!?', 'anything!?'],
    ['flights', ''],
  ])('a topic: %s is not touched by "%s"', (topic, message) => {
    expect(touchedBy(message)(topic)).toBe(false);
  });
});
