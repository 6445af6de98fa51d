import { expect, test } from 'vitest';
import { modelRegistry } from '#shared/models/model-registry.ts';
import { billFolds, type Fold } from './bill.ts';
import { compareCosts } from './compare-costs.ts';
import { listSteps, readShapes, recordedShapes } from './conversation.ts';
import { foldAtThreshold, foldLikeGeminiCli } from './folds.ts';

const priced = Object.entries(modelRegistry).flatMap(([model, { prices }]) =>
  prices ? [model] : [],
);
const chat = { messageTokens: 60, answerTokens: 250 };

test.each(readShapes({ ...chat, turnCount: 400 }))(
  'a conversation of the kind $name costs less with Recap than with others, at every hit rate',
  (shape) => {
    const asked = { model: 'gemini-3.8-flash', hitFraction: 0.5, overheadTokens: 500 };

    for (const { naive, geminiCli, recap } of compareCosts(shape, asked).hits)
      expect(recap.total).toBeLessThan(Math.min(naive.total, geminiCli.total));
  },
);

test.each(priced)('the cost of a chat with %s is known', (model) => {
  const costs = readShapes({ ...chat, turnCount: 20 }).map((shape) =>
    compareCosts(shape, { model, hitFraction: 0, overheadTokens: 0 }),
  );

  expect(costs.every(({ naive }) => naive.total > 0)).toBe(true);
});

test('the turns of a recording are what is said and answered in turn', () => {
  const turns = (['user', 'model', 'model', 'user'] as const).map((role) => ({
    role,
    parts: [{ text: 'A sentence of some words.' }],
  }));

  const [shape] = recordedShapes([{ id: 'talk', turns }], 'coding');

  expect(shape).toMatchObject({ name: 'talk', profile: 'coding', turnCount: 2 });
  const [[said = 0, answered = 0] = [], last = []] = shape?.turns ?? [];
  expect(said).toBeGreaterThan(0);
  expect(Math.abs(answered - 2 * said)).toBeLessThanOrEqual(1);
  expect(last).toEqual([said, 0]);
});

const nothing = { reads: 0, writes: 0, messages: 0 };
const rates = {
  model: { price: { input: 1, cached: 0.1, output: 10 }, cacheFromTokens: 4_096 },
  cloud: { perRead: 1, perWrite: 10, perMessage: 1_000 },
  windowTokens: 1_000_000,
};
const single = {
  instructionTokens: 500,
  outputTokens: 100,
  snapshotTokens: 1_000,
  isChecked: false,
};
const checked = { ...single, isChecked: true };
const means = { summariser: single, recalledTokens: 0, turn: nothing, compaction: nothing };
const talk = {
  steps: listSteps([[1_000, 1_000]], 10),
  turns: 10,
  overheadTokens: 0,
  hitFraction: 0,
};
const twoFolds = [
  { end: 4, start: 3 },
  { end: 7, start: 6 },
];
const [fold = { end: 4, start: 3 }] = twoFolds;
/** Ten answers of 1,000 tokens, at ten times the price of input. */
const written = 10 * 10_000;
/** Tokens of input that cost as much as a bill of a thousand turns, of which there are ten here. */
const tokensFor = (dollars: number) => Math.round((dollars / 100) * 1e6);

test.each([
  // 1 + 3 + … + 19 thousand tokens read.
  ['grows with the square of its length', {}, { chat: 100_000, compactions: 0 }],
  // Prompts of 1 and 3 thousand are too short to be cached; of the others 2,000 tokens are new, but of the third all.
  [
    'discounts what the prompt before had, from 4,096 tokens on',
    { hitFraction: 1 },
    { chat: 9_000 + 7 * 2_000 + 0.1 * (5 + 7 + 9 + 11 + 13 + 15 + 17) * 1_000, compactions: 0 },
  ],
  // 1, 3, 5, 7; then 1 + 2 + 1 thousand, 6, 8; again 4, 6, 8. Folded: three turns; a snapshot and three turns more.
  [
    'goes on from snapshot and tail',
    { folds: twoFolds },
    { chat: 52_000, compactions: 6_500 + 7_500 + 2_000 },
  ],
  [
    'pays for what is recalled once something is folded',
    { folds: twoFolds, recalledTokens: 700 },
    { chat: 52_000 + 6 * 700, compactions: 16_000 },
  ],
  [
    'pays for a check that reads prompt and answer of a summary again',
    { folds: [fold], summariser: checked },
    {
      chat: 16_000 + 4_000 + 6_000 + 8_000 + 10_000 + 12_000 + 14_000,
      compactions: 6_500 + 6_600 + 2_000,
    },
  ],
])('the bill of a conversation %s', (_, changes, tokens) => {
  const { hitFraction = 0, folds: made = [], ...by }: Changes = changes;

  const bill = billFolds({ ...talk, hitFraction }, made, { rates, means: { ...means, ...by } });

  expect(tokensFor(bill.chat)).toBe(tokens.chat + written);
  expect(tokensFor(bill.compactions)).toBe(tokens.compactions);
});

interface Changes {
  hitFraction?: number;
  folds?: readonly Fold[];
  recalledTokens?: number;
  summariser?: typeof single;
}

test('the bill of a conversation has the operations of every turn, not of every call, and of every compaction', () => {
  const withTools = { ...talk, steps: listSteps([[1_000, 500, 200, 300]], 10) };
  const busy = { ...means, turn: { ...nothing, reads: 4 }, compaction: { ...nothing, writes: 5 } };

  const bill = billFolds(withTools, [{ end: 4, start: 2 }], { rates, means: busy });

  expect(bill.operations).toBeCloseTo((10 * 4 + 50) * 100, 6);
});

test.each([
  // 8,000 after four turns; 3,000 left, 9,000 after three more.
  [{ snapshotTokens: 1_000, rearmFraction: 0.25 }, [4, 7, 10]],
  // 9,000 left after each swap: due at once, and armed 4,000 tokens later.
  [{ snapshotTokens: 7_000, rearmFraction: 0.5 }, [4, 6, 8, 10]],
])('Recap folds after the turn that reaches the threshold, with %j: %j', (policy, ends) => {
  const conversation = { steps: listSteps([[1_000, 1_000]], 10) };
  const all = { thresholdTokens: 8_000, tailTokens: 2_000, ...policy };

  const folds = foldAtThreshold(conversation, all);

  expect(folds.map(({ end }) => end)).toEqual(ends);
  expect(folds.every(({ end, start }) => start === end - 1)).toBe(true);
});

test.each([
  // 10,000 after ten turns: three stay. 4,000 with the snapshot, 10,000 six turns later: three stay.
  ['keeps the turns that begin behind 70 %', [[500, 500]], 16, [10, 7, 16, 13]],
  [
    'keeps nothing where no turn begins there',
    [
      [100, 100],
      [2_000, 4_000, 2_000, 2_000],
    ],
    2,
    [3, 3],
  ],
])('Gemini CLI asks at half of the window, and %s', (_, turns, count, places) => {
  const conversation = { steps: listSteps(turns, count), overheadTokens: 0 };
  const shares = { thresholdFraction: 0.5, keptFraction: 0.3 };
  const policy = { ...shares, windowTokens: 20_000, snapshotTokens: 1_000 };

  const folds = foldLikeGeminiCli(conversation, policy);

  expect(folds.flatMap(({ end, start }) => [end, start])).toEqual(places);
});
