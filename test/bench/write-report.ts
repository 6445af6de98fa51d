import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format } from 'prettier';
import type { BenchGroup } from './bench-case.ts';
import { drawChart } from './draw-chart.ts';
import { chartOf, reportOf, type BenchRun } from './report.ts';

const style = { parser: 'markdown', printWidth: 100, proseWrap: 'preserve' } as const;

/** Writes `report.md` and a picture of each measured group, as SVG and PNG, into `folder`. */
export async function writeReport(
  folder: string,
  groups: readonly BenchGroup[],
  run: BenchRun,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const group of groups) {
    if (!run.results.some((result) => result.group === group.name)) continue;
    const { svg, png } = await drawChart(chartOf(group, run.results));
    await writeFile(join(folder, `${group.name}.svg`), `${svg}\n`);
    await writeFile(join(folder, `${group.name}.png`), png);
  }
  await writeFile(join(folder, 'report.md'), await format(reportOf(groups, run), style));
}
