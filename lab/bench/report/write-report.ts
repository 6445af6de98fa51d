import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'oxfmt';
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { BenchGroup, BenchResult } from '../measure.ts';
import { reportOf, type BenchRun } from './report.ts';

const byName = {
  field: 'name',
  type: 'nominal',
  sort: null,
  title: null,
  axis: { labelLimit: 0 },
} as const;
const byShare = {
  type: 'quantitative',
  title: 'share of the aim (log)',
  scale: { type: 'log' },
} as const;

/** How much of its aim each figure takes up, with its spread; what ends left of the line meets its aim. */
function chartOf(results: readonly BenchResult[]): TopLevelSpec {
  const values = results.flatMap(({ name, ratio, spread, aim, verdict }) => {
    if (aim === undefined || Number.isNaN(ratio)) return [];
    const share = (value: number) =>
      aim.direction === 'atMost' ? value / aim.ratio : aim.ratio / value;
    return { name, share: share(ratio), from: share(spread[0]), to: share(spread[1]), verdict };
  });
  const color = {
    field: 'verdict',
    type: 'nominal',
    title: null,
    legend: { orient: 'bottom' },
    scale: { domain: ['met', 'within', 'missed'], range: ['#3b7dd8', '#d8a63b', '#d8663b'] },
  } as const;
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
    background: 'white',
    width: 420,
    data: { values },
    encoding: { y: byName },
    layer: [
      {
        mark: { type: 'rule', strokeWidth: 2 },
        encoding: { x: { field: 'from', ...byShare }, x2: { field: 'to' }, color },
      },
      {
        mark: { type: 'point', filled: true, size: 60 },
        encoding: { x: { field: 'share', ...byShare }, color },
      },
      { mark: { type: 'rule', strokeDash: [4, 3] }, encoding: { x: { datum: 1 } } },
    ],
  };
}

/** Draws it as SVG, without a screen. */
async function drawChart(spec: TopLevelSpec): Promise<string> {
  const view = new View(parse(compile(spec).spec), { renderer: 'none' });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}

/** Writes the page and its picture into `folder`. */
export async function writeReport(
  folder: string,
  groups: readonly BenchGroup[],
  run: BenchRun,
): Promise<void> {
  const svg = await drawChart(chartOf(run.results));
  await writeFile(join(folder, 'speed.svg'), `${svg}\n`);
  const page = join(folder, 'speed.md');
  const { code } = await format(page, reportOf(groups, run), { proseWrap: 'preserve' });
  await writeFile(page, code);
}
