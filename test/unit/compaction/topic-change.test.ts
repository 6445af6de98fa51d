import { topicChanges } from '#shared/compaction/split-by-topic.ts';
import { describe, expect, test } from 'vitest';

const start = new Date('2026-01-02T03:00:00Z').getTime();
const at = (minutes: number) => new Date(start + minutes * 60_000);
const turns = (...texts: string[]) => texts.map((text, index) => ({ text, at: at(index) }));

const garden = [
  'The tomatoes in the garden need water',
  'Water the tomatoes in the morning, not at noon',
  'My garden tomatoes have yellow leaves',
  'Yellow leaves on tomatoes mean too much water',
];
const train = [
  'Which train goes to Hamburg on Friday',
  'The Friday train to Hamburg leaves at nine',
  'Book two seats on that train to Hamburg',
];
const 火车 = ['星期五去上海的火车几点', '去上海的火车九点开', '请订两张去上海的火车票'];
const 花园 = ['花园里的番茄需要浇水', '番茄早上浇水比较好', '番茄的叶子发黄了'];

const highest = (values: readonly number[]) => values.indexOf(Math.max(...values));

describe('a change of topic', () => {
  test('a topic change is found where other words begin', () => {
    expect(highest(topicChanges(turns(...garden, ...train)))).toBe(garden.length);
  });

  test('a topic change is found in a script without blanks', () => {
    expect(highest(topicChanges(turns(...花园, ...火车)))).toBe(花园.length);
  });

  test('a topic change is found at the end of a long pause', () => {
    const talk = garden.map((text, index) => ({ text, at: at(index < 2 ? index : 600 + index) }));

    expect(topicChanges(talk)[2]).toBe(1);
  });
});
