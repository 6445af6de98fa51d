import { describe, expect, test } from 'vitest';
import { registry } from '#shared/models/registry.ts';
import { compareCosts } from './compare-costs.ts';
import { readShapes, recordedShapes } from './conversation.ts';

const shapes = readShapes({ messageTokens: 60, answerTokens: 250, turnCount: 400 });
const priced = Object.entries(registry).flatMap(([model, { prices }]) => (prices ? [model] : []));

describe('the cost of conversations', () => {
  test('is that of a chat, long answers and a coding session', () => {
    expect(shapes.map(({ name }) => name)).toEqual(['chat', 'coding', 'long-answers']);
  });

  test.each(shapes)('of $name is less with Recap than with others, at every hit rate', (shape) => {
    const asked = { model: 'gemini-3.8-flash', hitFraction: 0.5, overheadTokens: 500 };
    const { hits } = compareCosts(shape, asked);

    for (const { naive, geminiCli, recap, optimum } of hits) {
      expect(recap.total).toBeLessThan(Math.min(naive.total, geminiCli.total));
      expect(optimum.total).toBeLessThanOrEqual(recap.total);
    }
  });

  test.each(priced)('of a chat with %s is known', (model) => {
    const [chat] = readShapes({ messageTokens: 60, answerTokens: 250, turnCount: 20 });
    if (chat === undefined) throw new Error('there is no chat');

    expect(
      compareCosts(chat, { model, hitFraction: 0, overheadTokens: 0 }).naive.total,
    ).toBeGreaterThan(0);
  });
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
