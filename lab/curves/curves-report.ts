import type { TopLevelSpec } from 'vega-lite';
import type { Strategy } from '../eval/eval-mode-arguments.ts';
import { axes, type Axis } from './axes.ts';

/** One point of one curve: means over the conversations of a file. Shares are of 1. */
export interface CurvePoint {
  axis: string;
  value: number;
  strategy: Strategy;
  file: string;
  conversations: number;
  /** Conversations whose last compaction failed: they have no part in the means. */
  failed: number;
  carried?: number;
  answered?: number;
  invented?: number;
  snapshotTokens?: number;
}

const percent = (share: number | undefined): string =>
  share === undefined ? '–' : (share * 100).toFixed(1);
const whole = (value: number | undefined): string =>
  value === undefined ? '–' : Math.round(value).toLocaleString('en-US');
const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`;

const columns = [
  'File',
  'Strategy',
  'At',
  'Carried %',
  'Answered %',
  'Invented %',
  'Snapshot, tokens',
  'Failed',
];

const pointRow = (point: CurvePoint): string =>
  row([
    point.file,
    point.strategy,
    point.value.toLocaleString('en-US'),
    percent(point.carried),
    percent(point.answered),
    percent(point.invented),
    whole(point.snapshotTokens),
    `${point.failed} of ${point.conversations}`,
  ]);

function sectionOf(axis: Axis, points: readonly CurvePoint[]): string {
  const ofAxis = points.filter(({ axis: name }) => name === axis.name);
  if (ofAxis.length === 0) return '';
  return [
    `## By ${axis.title}`,
    [row(columns), row(columns.map(() => '---')), ...ofAxis.map(pointRow)].join('\n'),
  ].join('\n\n');
}

/** The page in Markdown; its picture is `fidelity.svg` beside it. */
export function curvesPage(points: readonly CurvePoint[], written: string): string {
  return `${[
    '# Fidelity',
    `Written by \`npm run eval:curves -- --report\` on ${written}. What is left of recorded conversations after compactions, by what they are given. The stand-in summarises and leaves out three statements of ten; a snapshot may have 1,500 tokens, 30 % of the text stay word for word: where a curve says nothing else. A threshold sets the size of its snapshots itself.`,
    '![What snapshots carry, by what they are given](fidelity.svg)',
    '*Carried*: facts of the folded turns that the kept ones do not hold, weighed, and that the snapshot does. *Answered*: questions of the data set to the folded part that the context answers, from what another conversation answers (0) to what the whole history does (100); only files with questions have it. *Invented*: numbers, dates, links and ids of the snapshot that nobody said in these words: of the ledger they are days that the code worked out of words such as “tomorrow”. All three are measured by a module that knows nothing of the service.',
    ...axes.map((axis) => sectionOf(axis, points)).filter((section) => section !== ''),
  ].join('\n\n')}\n`;
}

const panelOf = (axis: Axis, points: readonly CurvePoint[]): object => ({
  width: 260,
  height: 180,
  data: {
    values: points.flatMap(({ axis: name, value, strategy, file, carried }) =>
      name === axis.name && carried !== undefined
        ? [{ value, strategy, file, carried: carried * 100 }]
        : [],
    ),
  },
  mark: { type: 'line', point: true },
  encoding: {
    x: {
      field: 'value',
      type: 'quantitative',
      title: axis.title,
      scale: { type: axis.scale, nice: false, padding: 12 },
      axis: { values: [...axis.values], format: axis.scale === 'log' ? '~s' : '~g' },
    },
    y: { field: 'carried', type: 'quantitative', title: 'carried, %', scale: { domain: [0, 100] } },
    color: { field: 'file', type: 'nominal', title: null },
    strokeDash: {
      field: 'strategy',
      type: 'nominal',
      title: null,
      sort: ['ledger', 'rewrite'],
      // Beside points a legend of dashes stays empty; the title tells them.
      legend: null,
    },
  },
});

/** A panel for each axis, a line for each file and strategy. */
export function curvesChart(points: readonly CurvePoint[]): TopLevelSpec {
  const spec = {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    background: 'white',
    title: 'What snapshots carry: the ledger solid, rewrite dashed',
    columns: 3,
    config: { legend: { orient: 'bottom', columns: 5 } },
    concat: axes
      .filter(({ name }) => points.some((point) => point.axis === name))
      .map((axis) => panelOf(axis, points)),
  };
  return spec as TopLevelSpec;
}
