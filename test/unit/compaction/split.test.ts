import {
  type SizedTurn,
  foldPointOfTail,
  tailStart,
  toBlocks,
} from '#shared/compaction/split-by-tail.ts';
import { topicChanges } from '#shared/compaction/split-by-topic.ts';
import type { Content } from '#shared/models/content.ts';
import { expect, test } from 'vitest';

const limits = { targetTokens: 400, capTokens: 600, turnCapTokens: 600, minimumTokens: 100 };

const sized = (seq: number, tokens: number, overrides: Partial<SizedTurn> = {}): SizedTurn => ({
  seq,
  userTokens: 0,
  blocks: [{ end: 1, tokens }],
  tokens,
  isDropped: false,
  isResponse: false,
  ...overrides,
});

const turnsOf = (...tokens: number[]) => tokens.map((each, index) => sized(index + 1, each));

/** One turn of blocks, each a call and its response. */
const run = (userTokens: number, ...blocks: number[]): SizedTurn =>
  sized(1, userTokens + blocks.reduce((sum, tokens) => sum + tokens, 0), {
    userTokens,
    blocks: blocks.map((tokens, index) => ({ end: 2 * (index + 1), tokens })),
  });

test.each<[string, SizedTurn[], number]>([
  ['of one turn, whatever its size', turnsOf(9_000), 0],
  ['leaves the newest within the target', turnsOf(100, 100, 100, 100, 100, 100), 2],
  ['is the newest when that fills the cap', turnsOf(100, 100, 600), 2],
  ['is a second one within the cap', turnsOf(100, 300, 300), 1],
  [
    'comes behind a turn to drop once the minimum is kept',
    [...turnsOf(50, 50), sized(3, 10, { isDropped: true }), sized(4, 100)],
    3,
  ],
  [
    'is none to drop, even where the minimum is not kept',
    [sized(1, 500), sized(2, 10, { isDropped: true }), sized(3, 50)],
    2,
  ],
  ['is the newest though that is to drop', [sized(1, 900), sized(2, 50, { isDropped: true })], 1],
  [
    'brings the turn whose call a response answers',
    [sized(1, 100), sized(2, 500), sized(3, 350, { isResponse: true })],
    1,
  ],
])('the first turn that stays: %s', (_, turns, expected) => {
  expect(tailStart(turns, limits)).toBe(expected);
});

test('the fold point lies before the first turn that stays', () => {
  expect(foldPointOfTail(turnsOf(100, 100, 100), 2, limits)).toEqual({ seq: 2, contentIndex: 0 });
});

test('the fold point includes turns outside of the context', () => {
  const turns = [sized(1, 100), sized(7, 100)];

  expect(foldPointOfTail(turns, 1, limits)).toEqual({ seq: 6, contentIndex: 0 });
});

test('the fold point lies inside a newest turn that exceeds the cap', () => {
  const turns = [sized(1, 100), { ...run(100, 500, 100), seq: 2 }];

  expect(foldPointOfTail(turns, 1, limits)).toEqual({ seq: 2, contentIndex: 2 });
});

const done: Content = { role: 'model', parts: [{ text: 'Done.' }] };
const remark: Content = { role: 'user', parts: [{ text: 'Hurry.' }] };
const call = (...names: string[]): Content => ({
  role: 'model',
  parts: names.map((name) => ({ functionCall: { name, args: {} } })),
});
const response = (...names: string[]): Content => ({
  role: 'user',
  parts: names.map((name) => ({ functionResponse: { name, response: {} } })),
});
const counting = { rule: 'character-class' } as const;

test.each<[string, Content[], number[]]>([
  ['nothing', [], []],
  ['a text', [done], [1]],
  ['calls with their responses, and the text', [call('f'), response('f'), done], [2, 3]],
  ['a call that never got its response', [done, call('f'), done, done], [1, 4]],
  ['a remark of the user', [call('f'), response('f'), remark, done], [3, 4]],
])('the blocks of an answer: %s', (_, contents, ends) => {
  expect(toBlocks(contents, { from: 0, counting }).map(({ end }) => end)).toEqual(ends);
});

const start = new Date('2026-01-02T03:00:00Z').getTime();
const at = (minutes: number) => new Date(start + minutes * 60_000);

const garden = [
  'The tomatoes in the garden need water',
  'Water the tomatoes in the morning, not at noon',
  'My garden tomatoes have yellow leaves',
  'Yellow leaves on tomatoes mean too much water',
];
test('a topic change is found at the end of a long pause', () => {
  const talk = garden.map((text, index) => ({ text, at: at(index < 2 ? index : 600 + index) }));

  expect(topicChanges(talk)[2]).toBe(1);
});
