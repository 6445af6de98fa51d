import type { TopLevelSpec } from 'vega-lite';
import type { BenchGroup, BenchResult } from '../bench-case.ts';
import { median } from './bench-result.ts';

interface LinePoint {
  line: string;
  at: number;
  value: number;
}

/** The line of our own figures. */
const OWN_LINE = 'Recap';

/**
 * The points of a group's lines: one for each result that has a place, and one of ours wherever there is one of
 * another, the median of all that were taken there. What could not be measured has none.
 */
export function linePointsOf(results: readonly BenchResult[]): LinePoint[] {
  const own = new Map<number, number[]>();
  const others = results.flatMap(({ point, ours, reference }): LinePoint[] => {
    if (point === undefined) return [];
    own.set(point.at, [...(own.get(point.at) ?? []), ours]);
    return Number.isFinite(reference) ? [{ ...point, value: reference }] : [];
  });
  const ours = [...own].map(([at, values]) => ({ line: OWN_LINE, at, value: median(values) }));
  return [...ours, ...others];
}

/** A line for each system, on logarithmic axes: what grows with the conversation rises. */
export function lineChartOf(group: BenchGroup, results: readonly BenchResult[]): TopLevelSpec {
  const values = linePointsOf(results);
  const lines = [...new Set(values.map(({ line }) => line))];
  const unit = results[0]?.unit ?? '';
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    title: group.title,
    background: 'white',
    width: 460,
    height: 340,
    data: { values },
    mark: { type: 'line', point: true },
    encoding: {
      x: {
        field: 'at',
        type: 'quantitative',
        scale: { type: 'log' },
        title: group.lines?.at ?? null,
        axis: { values: [...new Set(values.map(({ at }) => at))], format: ',' },
      },
      y: { field: 'value', type: 'quantitative', scale: { type: 'log' }, title: unit },
      color: {
        field: 'line',
        type: 'nominal',
        sort: lines,
        title: null,
        legend: { labelLimit: 0 },
      },
      strokeWidth: { condition: { test: `datum.line === '${OWN_LINE}'`, value: 4 }, value: 1.5 },
    },
  };
}
