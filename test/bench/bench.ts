import { writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import type { BenchCase, BenchResult } from './bench-case.ts';
import { resultOf } from './bench-result.ts';
import { engineCases } from './cases/engine-size.ts';
import { estimateCases } from './cases/estimate-throughput.ts';
import { planCases } from './cases/plan-size.ts';

const SAMPLES = 7;

const usage = 'npm run bench [-- --only NAME] [--json OUT]';

const machine = () => ({
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 1e9),
});

function measure(of: BenchCase): BenchResult {
  const { samples = SAMPLES } = of;
  // Once each to warm up; then in turns.
  if (samples > 1) {
    of.ours();
    of.reference();
  }
  const ours: number[] = [];
  const reference: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    ours.push(of.ours());
    reference.push(of.reference());
  }
  return resultOf(of, { ours, reference });
}

const number = (value: number) => value.toPrecision(3);

function lineOf(result: BenchResult): string {
  const { name, unit, ours, reference, referenceName, ratio, direction, aim, met, note } = result;
  const sign = direction === 'atMost' ? '≤' : '≥';
  return [
    `${met ? 'met   ' : 'missed'} ${name}: ${number(ours)} ${unit}, ${number(ratio)} × ${referenceName}`,
    `(${number(reference)} ${unit}); aim ${sign} ${aim}${note === undefined ? '' : `. ${note}`}`,
  ].join(' ');
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, json: { type: 'string' } },
  });
  const all = [...estimateCases(), ...planCases(), ...engineCases()];
  const chosen = all.filter(({ name }) => values.only === undefined || name.includes(values.only));
  if (chosen.length === 0)
    throw new RangeError(
      `no benchmark is called ${values.only}; ${usage}. There are: ${all.map(({ name }) => name).join(', ')}`,
    );
  const results: BenchResult[] = [];
  for (const [index, each] of chosen.entries()) {
    process.stderr.write(`${index + 1} of ${chosen.length}: ${each.name} …\n`);
    const result = measure(each);
    results.push(result);
    process.stdout.write(`${lineOf(result)}\n`);
  }
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify({ machine: machine(), results }, null, 2)}\n`);
}

await main();
