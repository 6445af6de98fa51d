import type { TopLevelSpec } from 'vega-lite';
import type { BenchGroup, BenchResult } from '../bench-case.ts';
import { aimOf } from './bench-result.ts';
import { shareOfAim, shown, sign } from './report.ts';

const byName = {
  field: 'name',
  type: 'nominal',
  sort: null,
  title: null,
  axis: { labelLimit: 0 },
} as const;

/** Bars of how much of its aim each figure takes up, with a line at the aim. Figures without one have no bar. */
export const barChartOf = (group: BenchGroup, results: readonly BenchResult[]): TopLevelSpec => ({
  $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
  title: group.title,
  background: 'white',
  width: 420,
  data: {
    values: results.flatMap((result) => {
      const aim = aimOf(result);
      if (result.group !== group.name || aim === undefined) return [];
      return {
        name: result.name,
        share: shareOfAim({ ...aim, ratio: result.ratio }),
        met: result.met === true ? 'met' : 'missed',
        label: `${shown(result.ratio)} (${sign(aim)} ${aim.aim})`,
      };
    }),
  },
  encoding: {
    x: { field: 'share', type: 'quantitative', title: 'share of the aim that is taken up' },
  },
  layer: [
    {
      mark: 'bar',
      encoding: {
        y: byName,
        color: {
          field: 'met',
          type: 'nominal',
          title: null,
          legend: { orient: 'bottom' },
          scale: { domain: ['met', 'missed'], range: ['#3b7dd8', '#d8663b'] },
        },
      },
    },
    {
      mark: { type: 'text', align: 'left', dx: 4 },
      encoding: { y: byName, text: { field: 'label', type: 'nominal' } },
    },
    { mark: { type: 'rule', strokeDash: [4, 3] }, encoding: { x: { datum: 1 } } },
  ],
});
