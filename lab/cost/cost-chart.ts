import type { TopLevelSpec } from 'vega-lite';
import { billTitles } from './cost-page.ts';
import type { CostRun, ShapeRun } from './cost-run.ts';

type Layer = Extract<TopLevelSpec, { layer: unknown }>['layer'][number];

const tailName = (tailTokens: number) => `tail ${tailTokens.toLocaleString('en-US')}`;

const gridLayer = ({ points }: ShapeRun): Layer => ({
  data: { values: points.map((point) => ({ ...point, tail: tailName(point.tailTokens) })) },
  mark: { type: 'line', point: true },
  encoding: {
    x: {
      field: 'thresholdTokens',
      type: 'quantitative',
      scale: { type: 'log' },
      title: 'threshold, tokens',
      axis: { format: 's' },
    },
    y: { field: 'total', type: 'quantitative', scale: { type: 'log' }, title: 'US$' },
    color: { field: 'tail', type: 'nominal', sort: null, title: null },
  },
});

/** What does not compact by a threshold of tokens, at which a name finds room. */
const labels = [
  { id: 'naive', labelAt: 6_000 },
  { id: 'geminiCli', labelAt: 32_000 },
  { id: 'optimum', labelAt: 48_000 },
] as const;

const othersLayer = ({ bills }: ShapeRun): Layer => ({
  data: {
    values: labels.map(({ id, labelAt }) => ({
      name: billTitles[id],
      total: bills[id].total,
      labelAt,
    })),
  },
  encoding: { y: { field: 'total', type: 'quantitative' } },
  layer: [
    { mark: { type: 'rule', strokeDash: [4, 3] } },
    {
      mark: { type: 'text', align: 'left', dy: -6 },
      encoding: {
        x: { field: 'labelAt', type: 'quantitative' },
        text: { field: 'name', type: 'nominal' },
      },
    },
  ],
});

const usualLayer = ({ usual, points }: ShapeRun): Layer => ({
  data: {
    values: points
      .filter(
        ({ thresholdTokens, tailTokens }) =>
          thresholdTokens === usual.thresholdTokens && tailTokens === usual.tailTokens,
      )
      .map((point) => ({ ...point, name: 'default' })),
  },
  encoding: {
    x: { field: 'thresholdTokens', type: 'quantitative' },
    y: { field: 'total', type: 'quantitative' },
  },
  layer: [
    { mark: { type: 'point', size: 160, color: 'black' } },
    { mark: { type: 'text', dy: -14 }, encoding: { text: { field: 'name', type: 'nominal' } } },
  ],
});

/** Dollars of the chat by threshold, a line for each tail, and lines for those who do not compact so. */
export function costChart({ model, shapes }: CostRun): TopLevelSpec {
  const [chat] = shapes;
  if (chat === undefined) throw new RangeError('there is no conversation to draw');
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    title: `US$ for 1,000 turns of the chat, ${model}`,
    background: 'white',
    width: 520,
    height: 300,
    layer: [gridLayer(chat), othersLayer(chat), usualLayer(chat)],
  };
}
