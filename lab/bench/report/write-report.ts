import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import { barChartOf } from './bar-chart.ts';
import type { BenchGroup } from '../bench-case.ts';
import { drawChart } from './draw-chart.ts';
import { lineChartOf } from './line-chart.ts';
import type { ReportPage } from './report-pages.ts';
import { hasPicture, reportOf, type BenchRun } from './report.ts';

const style = { parser: 'markdown', printWidth: 100, proseWrap: 'preserve' } as const;

/** Writes a page and a picture of each measured group into `folder`. */
export async function writeReport(
  folder: string,
  { page, groups, run }: { page: ReportPage; groups: readonly BenchGroup[]; run: BenchRun },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const group of groups) {
    const own = run.results.filter((result) => result.group === group.name);
    if (!hasPicture(group, own)) continue;
    const chartOf = group.lines === undefined ? barChartOf : lineChartOf;
    const svg = await drawChart(chartOf(group, own));
    await writeFile(join(folder, `${group.name}.svg`), `${svg}\n`);
  }
  await writeFile(
    join(folder, `${page.name}.md`),
    await format(reportOf(page, groups, run), style),
  );
}
