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

const table = (columns: readonly string[], rows: readonly string[]): string =>
  [row(columns), row(columns.map(() => '---')), ...rows].join('\n');

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

function axisTable(axis: Axis, points: readonly CurvePoint[]): string {
  const measured = points.filter(({ axis: name }) => name === axis.name);
  if (measured.length === 0) return '';
  return [`## By ${axis.title}`, table(columns, measured.map(pointRow))].join('\n\n');
}

/** All points for the terminal, a table for each axis that was measured. */
export const curveTables = (points: readonly CurvePoint[]): string =>
  `${axes
    .map((axis) => axisTable(axis, points))
    .filter((section) => section !== '')
    .join('\n\n')}\n`;

const DEFAULT_THRESHOLD_TOKENS = 24_000;

/** The points of each file on the axis of thresholds. */
function byFile(points: readonly CurvePoint[]): Map<string, CurvePoint[]> {
  return Map.groupBy(
    points.filter(({ axis }) => axis === 'threshold'),
    ({ file }) => file,
  );
}

function defaultRow([file, points]: [string, CurvePoint[]]): string {
  const at = (strategy: Strategy) =>
    points.find((each) => each.strategy === strategy && each.value === DEFAULT_THRESHOLD_TOKENS);
  const both = (share: 'carried' | 'answered' | 'invented') => {
    const cells = [at('ledger')?.[share], at('gemini-cli')?.[share]];
    return cells.every((cell) => cell === undefined) ? '–' : cells.map(percent).join(' / ');
  };
  return row([file, both('carried'), both('answered'), both('invented')]);
}

const otherThresholds = (points: readonly CurvePoint[]): number[] =>
  [...new Set(points.filter(({ axis }) => axis === 'threshold').map(({ value }) => value))].filter(
    (value) => value !== DEFAULT_THRESHOLD_TOKENS,
  );

const thresholdRow =
  (thresholds: readonly number[]) =>
  ([file, points]: [string, CurvePoint[]]): string =>
    row([
      file,
      ...thresholds.map((value) =>
        percent(points.find((each) => each.strategy === 'ledger' && each.value === value)?.carried),
      ),
    ]);

/** The page in Markdown; its picture is `fidelity.svg` beside it. `remarks` are written by hand. */
export function curvesPage(
  points: readonly CurvePoint[],
  { written, remarks }: { written: string; remarks: string },
): string {
  const files = [...byFile(points)];
  const thresholds = otherThresholds(points);
  return `${[
    '# Fidelity',
    `How much of a recorded conversation survives compaction. From \`npm run eval:curves -- --report\` of ${written}. **The summariser is the fake Gemini, which leaves out three statements of ten**; a real model writes otherwise. 30 % of the text stays verbatim. Three conversations per file; \`pi-sessions\` (coding) has one.`,
    '![What snapshots carry, by what they are given](fidelity.svg)',
    [
      '- _Carried_: share of the weighted facts of folded turns, absent from the kept ones, that the snapshot holds.',
      '- _Answered_: questions on the folded part that the context answers; 0 is another conversation, 100 the whole history.',
      "- _Invented_: numbers, dates, links and ids that nobody said in these words. `ledger`'s are days that code derived from words such as “tomorrow”.",
    ].join('\n'),
    'At the default threshold of 24,000, `ledger` (the default) / `gemini-cli`:',
    table(['File', 'Carried %', 'Answered %', 'Invented %'], files.map(defaultRow)),
    'Carried % of `ledger` by threshold:',
    table(['File', ...thresholds.map(whole)], files.map(thresholdRow(thresholds))),
    remarks,
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
      sort: ['ledger', 'gemini-cli'],
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
    title: 'What snapshots carry: the ledger solid, gemini-cli dashed',
    columns: 3,
    config: { legend: { orient: 'bottom', columns: 5 } },
    concat: axes
      .filter(({ name }) => points.some((point) => point.axis === name))
      .map((axis) => panelOf(axis, points)),
  };
  return spec as TopLevelSpec;
}
