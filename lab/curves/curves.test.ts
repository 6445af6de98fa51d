import { describe, expect, test } from 'vitest';
import { axes, pointsOf } from './axes.ts';
import { curvesPage, curveTables, type CurvePoint } from './curves-report.ts';
import { meanOf, scoresOf } from './score.ts';
import type { EvalResult } from '../eval/run/eval-run.ts';
import type { Recording } from '../eval/replay/recording.ts';

const axisOf = (name: string) => {
  const axis = axes.find((each) => each.name === name);
  if (axis === undefined) throw new Error(`there is no axis ${name}`);
  return axis;
};

describe('a curve', () => {
  test('varies one setting and leaves the others as they are', () => {
    const points = pointsOf(axisOf('compactions'), ['ledger', 'gemini-cli']);

    expect(points.map(({ settings }) => settings.repeat)).toEqual([1, 2, 4, 8, 1, 2, 4, 8]);
    expect(new Set(points.map(({ settings }) => settings.snapshotTokens))).toEqual(
      new Set([1_500]),
    );
    expect(points[4]?.settings.strategy).toBe('gemini-cli');
  });

  test('leaves the size of snapshots to a threshold that it varies', () => {
    const [first] = pointsOf(axisOf('threshold'), ['ledger']);

    expect(first?.settings).toMatchObject({ thresholdTokens: 6_000, repeat: 1 });
    expect(first?.settings).not.toHaveProperty('snapshotTokens');
  });
});

describe('the scores of conversations', () => {
  const recording = (id: string): Recording => ({
    id,
    turns: [{ role: 'user', parts: [{ text: id }] }],
  });
  const result = (id: string, snapshot?: string): EvalResult => ({
    id,
    state: snapshot === undefined ? 'FAILED' : 'COMPACTED',
    generations: 1,
    calls: 1,
    promptTokens: 1,
    outputTokens: 1,
    durationMs: 1,
    ...(snapshot !== undefined && { keepFrom: 0, snapshot }),
  });
  const others: unknown[] = [];
  const measure = {
    survival: (_turns: unknown, _keepFrom: number, snapshot: string) => ({
      carried: snapshot.length / 10,
      inventedRate: 0,
      snapshotTokens: snapshot.length,
    }),
    probeSurvival: (...given: unknown[]) => {
      others.push(given[4]);
      return { conversation: { n: 0, normalised: null } };
    },
  };

  test('leave out those whose compaction failed, and take the next conversation for the noise', () => {
    const recordings = [recording('a'), recording('b'), recording('c')];
    const results = [result('a', 'four'), result('b'), result('c', 'sixsix')];

    const scores = scoresOf(measure, recordings, results);

    expect(scores.map(({ carried }) => carried)).toEqual([0.4, undefined, 0.6]);
    expect(meanOf(scores, 'carried')).toBeCloseTo(0.5);
    expect(meanOf(scores, 'answered')).toBeUndefined();
    expect(others).toEqual([
      {},
      { other: { turns: recordings[0]?.turns, keepFrom: 0, snapshot: 'four' } },
    ]);
  });
});

const point: CurvePoint = {
  axis: 'threshold',
  value: 24_000,
  strategy: 'ledger',
  file: 'dialogues',
  conversations: 3,
  failed: 1,
  carried: 0.7214,
  snapshotTokens: 749.4,
};

test('the terminal shows a table for each axis that was measured, with its failures', () => {
  const tables = curveTables([point]);

  expect(tables).toContain('| dialogues | ledger | 24,000 | 72.1 | – | – | 749 | 1 of 3 |');
  expect(tables.match(/^## /gm)).toHaveLength(1);
});

test('the page has both strategies at the default threshold, the others by threshold, and its remarks', () => {
  const points = [point, { ...point, value: 6_000, carried: 0.5 }];
  const page = curvesPage(points, { written: '2026-11-22', remarks: 'What falls short: much.' });

  expect(page).toContain('| dialogues | 72.1 / – | – | – |');
  expect(page).toContain('| File | 6,000 |\n| --- | --- |\n| dialogues | 50.0 |');
  expect(page.endsWith('What falls short: much.\n')).toBe(true);
});
