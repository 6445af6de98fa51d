import { describe, expect, test } from 'vitest';
import { computeCost, listModels } from './compute-cost.ts';
import { costPage, judgeDefault } from './cost-page.ts';
import { readShapes, recordedShapes } from './shape.ts';

const nothing = { reads: 0, writes: 0, deletes: 0, messages: 0 };
const run = computeCost(
  readShapes({ messageTokens: 60, answerTokens: 250, turnCount: 400 }),
  { model: 'gemini-3.8-flash', hitFraction: 0.5, overheadTokens: 500, instructionTokens: 2_000 },
  { turn: nothing, compaction: nothing },
);

describe('the cost of conversations', () => {
  test('has a chat, long answers and a coding session', () => {
    expect(run.shapes.map(({ name }) => name)).toEqual(['chat', 'coding', 'long-answers']);
  });

  test.each(run.shapes)('of $name is least with Recap, with every model and hit rate', (shape) => {
    const lines = [...shape.hits, ...shape.models];

    expect(
      lines.filter(({ naive, geminiCli, usual }) => usual >= Math.min(naive, geminiCli)),
    ).toEqual([]);
  });

  test('is told of every model in service that has a price', () => {
    const models = listModels();

    expect(models).toContain('gemini-3.8-flash');
    expect(models).toContain('gemini-3.1-pro');
    expect(models).not.toContain('gemini-3-pro');
    expect(models.some((model) => model.endsWith('-latest'))).toBe(false);
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

describe('the judgement of a default', () => {
  const line = { hitFraction: 0.5, naive: 900, geminiCli: 800 };
  const [chat] = run.shapes;
  const judge = (usual: number, others: { thresholdTokens: number; total: number }[]) => {
    if (chat === undefined) throw new Error('there is no chat');
    const points = others.map((point) => ({ ...point, tailTokens: 4_000 }));
    return judgeDefault({ ...chat, hits: [{ ...line, usual, optimum: 10, points }] });
  };

  test.each([
    [13, 'within 1.3 × the optimum'],
    [13.1, '**above 1.3 × the optimum with 50 % hits**'],
  ])('%d beside an optimum of 10 is %s', (usual, verdict) => {
    expect(judge(usual, [])).toContain(verdict);
  });

  test('names the threshold that would cost the least, if it is cheaper', () => {
    const others = [
      { thresholdTokens: 16_000, total: 11 },
      { thresholdTokens: 12_000, total: 10.5 },
      { thresholdTokens: 32_000, total: 15 },
    ];

    expect(judge(12, others)).toContain('A threshold of 12,000 with the same tail would cost 88 %');
    expect(judge(10.2, others)).toContain('No other threshold of the table is cheaper');
  });
});

describe('the page', () => {
  const page = costPage({ ...run, messageTokens: 60, answerTokens: 250 });

  test('has a row for each bill of a conversation, with its share of the optimum', () => {
    const [chat] = run.shapes;
    const rows = page
      .split('\n')
      .filter((line) => /^\| (?:Naive|Gemini|Recap|Optimum)/u.test(line));

    expect(rows).toHaveLength(3 * Object.keys(chat?.bills ?? {}).length);
    expect(rows.filter((line) => line.startsWith('| Optimum | '))).toEqual(
      Array.from({ length: 3 }, () => expect.stringContaining('| 1.00 |')),
    );
  });
});
