import { describe, expect, test } from 'vitest';
import { barChartOf } from './bar-chart.ts';
import type { BenchGroup, BenchResult } from '../bench-case.ts';
import { drawChart } from './draw-chart.ts';
import { lineChartOf, linePointsOf } from './line-chart.ts';
import { groupsWith, measureGroups } from '../measure.ts';
import { benchPage } from './report-pages.ts';
import { hasPicture, lineOf, reportOf, shareOfAim } from './report.ts';

const result: BenchResult = {
  name: 'turn-growth',
  group: 'turn',
  unit: 'ms',
  ours: 12.345,
  reference: 10,
  referenceName: 'the same with 10 past turns',
  ratio: 1.2345,
  direction: 'atMost',
  aim: 1.3,
  met: true,
  samples: 7,
  spread: 0.5,
};
const machine = { date: '2026-11-22', node: 'v24', platform: 'x', cpu: 'y', cores: 2, memoryGb: 8 };

const groupOf = (values: number[], close?: () => Promise<void>): BenchGroup => ({
  name: 'turn',
  title: 'A turn',
  ...(close && { close }),
  cases: [
    {
      ...result,
      samples: values.length,
      ours: () => values.shift() ?? Number.NaN,
      reference: () => Promise.resolve(10),
    },
  ],
});
const silent = { started: () => {}, sampled: () => {}, measured: () => {}, failed: () => {} };

describe('what is measured', () => {
  test('is warmed up once, sampled as often as the case wants, and closed', async () => {
    let isClosed = false;
    const close = () => Promise.resolve(void (isClosed = true));
    const group = groupOf([99, 8, 9, 10], close);

    const results = await measureGroups(
      [{ ...group, cases: group.cases.map((one) => ({ ...one, samples: 3 })) }],
      {
        mostSamples: 5,
        listener: silent,
      },
    );

    expect(results).toMatchObject([
      { group: 'turn', ours: 9, reference: 10, samples: 3, met: true },
    ]);
    expect(isClosed).toBe(true);
  });

  test('is told with what its framework and SDKs take alone', async () => {
    const [measured] = await measureGroups(
      [
        {
          ...groupOf([]),
          cases: [
            { ...result, samples: 1, ours: () => 14, reference: () => 10, sdksAlone: () => 13 },
          ],
        },
      ],
      { mostSamples: 1, listener: silent },
    );

    expect(measured).toMatchObject({ ratio: 1.4, alone: { value: 13, ratio: 1.3 } });
    expect(measured && lineOf(measured)).toContain('framework and SDKs alone 13 ms, 1.3 ×');
  });

  test('is measured and closed though a case before it fails', async () => {
    const closed: string[] = [];
    const failed: unknown[] = [];
    const good = groupOf([9], () => Promise.resolve(void closed.push('turn')));
    const broken = {
      ...result,
      samples: 1,
      ours: () => Promise.reject(new Error('no store')),
      reference: () => 1,
    };

    const results = await measureGroups([{ ...good, cases: [broken, ...good.cases] }], {
      mostSamples: 1,
      listener: { ...silent, failed: (...input) => void failed.push(input) },
    });

    expect(results).toMatchObject([{ ours: 9 }]);
    const error = new Error('no store');
    expect(failed).toEqual([
      ['turn-growth', { error, isRepeated: false }],
      ['turn-growth', { error, isRepeated: true }],
    ]);
    expect(closed).toEqual(['turn']);
  });

  test('that fails is measured once more', async () => {
    const failed: string[] = [];
    let tries = 0;
    const work = () => (++tries === 1 ? Promise.reject(new Error('slow to start')) : 9);
    const group = groupOf([]);

    const results = await measureGroups(
      [{ ...group, cases: [{ ...result, samples: 1, ours: work, reference: () => 10 }] }],
      { mostSamples: 1, listener: { ...silent, failed: (name) => void failed.push(name) } },
    );

    expect(results).toMatchObject([{ name: 'turn-growth', ours: 9 }]);
    expect(failed).toEqual(['turn-growth']);
  });

  test('is chosen with its group', () => {
    expect(groupsWith([groupOf([])], ({ name }) => name.includes('growth'))).toHaveLength(1);
    expect(groupsWith([groupOf([])], () => false)).toEqual([]);
  });
});

test.each([
  { direction: 'atMost', ratio: 1.2, aim: 1.5, share: 0.8 },
  { direction: 'atLeast', ratio: 1, aim: 0.8, share: 0.8 },
  { direction: 'atLeast', ratio: 0.4, aim: 0.8, share: 2 },
] as const)('$ratio of $direction $aim takes up $share of the aim', ({ share, ...input }) => {
  expect(shareOfAim({ ...result, ...input })).toBeCloseTo(share);
});

describe('the report', () => {
  test('names the machine, the misses and every figure with its reference', () => {
    const missed = { ...result, name: 'warm-reads', ratio: 4, aim: 3, met: false };

    const text = reportOf(benchPage, [groupOf([])], { machine, results: [result, missed] });

    expect(text).toContain('2 cores');
    expect(text).toContain('aims missed: 1');
    expect(text.indexOf(`| ${missed.name} | `)).toBeLessThan(text.indexOf('## '));
    expect(text).toContain(
      '| turn-growth | 12.3 ms | 10 ms: the same with 10 past turns | 1.23 | ≤ 1.3 | yes |',
    );
    expect(text).toContain('**no**');
    expect(text).toContain('](turn.svg)');
  });

  test('has a line for the terminal', () => {
    expect(lineOf(result)).toBe(
      'met    turn-growth: 12.3 ms (± 25 %), 1.23 × the same with 10 past turns (10 ms); aim ≤ 1.3',
    );
  });

  test('has a picture of each group', async () => {
    const svg = await drawChart(barChartOf(groupOf([]), [result]));

    expect(svg).toContain('<svg');
    expect(svg).toContain('turn-growth');
  });

  const point = { line: 'Genkit', at: 1_000 };
  const { direction: _direction, aim: _aim, met: _met, ...toldOnly } = result;

  test('judges nothing that has no aim, and draws no bar of it', () => {
    expect(lineOf(toldOnly)).toBe(
      'told   turn-growth: 12.3 ms (± 25 %), 1.23 × the same with 10 past turns (10 ms)',
    );
    expect(hasPicture(groupOf([]), [toldOnly])).toBe(false);
    expect(hasPicture(groupOf([]), [toldOnly, result])).toBe(true);
  });

  test('writes the note of a figure on a line beside it, and – for what could not be done', () => {
    const failed = {
      ...toldOnly,
      point,
      reference: Number.NaN,
      ratio: Number.NaN,
      note: 'too big',
    };

    const text = reportOf(benchPage, [{ ...groupOf([]), lines: { at: 'past turns' } }], {
      machine,
      results: [failed],
    });

    expect(text).toContain('| – ms: the same with 10 past turns | – |  |  | 7, 50 % | too big |');
    expect(text).toContain('![A turn, by past turns](turn.svg)');
  });

  test('draws a line for each system and one of ours, without what could not be done', async () => {
    const results = [
      { ...toldOnly, ours: 10, reference: 30, point },
      { ...toldOnly, ours: 20, reference: 50, point: { line: 'ADK', at: 1_000 } },
      { ...toldOnly, ours: 30, reference: Number.NaN, point: { line: 'ADK', at: 10_000 } },
    ];

    const svg = await drawChart(lineChartOf(groupOf([]), results));

    expect(linePointsOf(results)).toEqual([
      { line: 'Recap', at: 1_000, value: 15 },
      { line: 'Recap', at: 10_000, value: 30 },
      { line: 'Genkit', at: 1_000, value: 30 },
      { line: 'ADK', at: 1_000, value: 50 },
    ]);
    expect(svg).toContain('Genkit');
  });
});
