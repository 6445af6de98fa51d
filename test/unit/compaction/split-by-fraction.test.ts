import { findSplitPoint } from '#shared/compaction/split.ts';
import type { Content } from '#shared/models/content.ts';
import { expect, test } from 'vitest';

const user = (text = 'x'): Content => ({ role: 'user', parts: [{ text }] });
const model = (text = 'x'): Content => ({ role: 'model', parts: [{ text }] });
const call: Content = { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] };
const response: Content = {
  role: 'user',
  parts: [{ functionResponse: { name: 'f', response: {} } }],
};
const pairs = (count: number): Content[] =>
  Array.from({ length: count }, () => [user(), model()]).flat();

test.each<[string, Content[], number, number]>([
  ['nothing', [], 0.7, 0],
  ['ten exchanges: the first user content after 70 %', pairs(10), 0.7, 14],
  ['exactly at the fraction', pairs(2), 0.5, 2],
  [
    'no user content after 70 %, ends with text: everything',
    [user(), model('y'.repeat(999))],
    0.7,
    2,
  ],
  [
    'ends with a call: before the last user content',
    [...pairs(2), user('z'.repeat(999)), call],
    0.7,
    4,
  ],
  ['ends with the user: before it', [model('y'.repeat(9)), user('z'.repeat(999))], 0.7, 1],
  [
    'one prompt and a tool loop: nothing',
    [user(), ...Array.from({ length: 20 }, () => [call, response]).flat()],
    0.7,
    0,
  ],
  [
    'tool loop in the last turn: before that turn',
    [...pairs(1), user(), call, response, call, response],
    0.7,
    2,
  ],
  ['a single user content', [user()], 0.7, 0],
])('findSplitPoint: %s', (...[, contents, fraction, index]) => {
  expect(findSplitPoint(contents, fraction)).toBe(index);
});
