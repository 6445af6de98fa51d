import { writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { readCommandLine, ArgumentError } from '../eval/replay-arguments.ts';
import { runCommand } from '../support/run-command.ts';
import type { BenchCase, BenchResult } from './bench-case.ts';
import { resultOf } from './bench-result.ts';
import { engineCases } from './cases/engine-size.ts';
import { estimateCases } from './cases/estimate-throughput.ts';
import { planCases } from './cases/plan-size.ts';

const SAMPLES = 7;

const help = `Usage: npm run bench [-- --only NAME] [--json OUT]

Measures how fast the plan of a compaction, the estimate of tokens and the engine are, each beside a reference
on the same machine. Nothing is sent anywhere.

  --only NAME  the benchmarks whose name holds NAME
  --json OUT   write the figures to this file
  --help       this text

Exit code: 0 measured, whatever was met; 2 wrong arguments.`;

const options = {
  only: { type: 'string' },
  json: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

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

async function run({ only, json }: { only?: string; json?: string }): Promise<void> {
  const all = [...estimateCases(), ...planCases(), ...engineCases()];
  const chosen = all.filter(({ name }) => only === undefined || name.includes(only));
  if (chosen.length === 0)
    throw new ArgumentError(
      `no benchmark is called ${only}. There are: ${all.map(({ name }) => name).join(', ')}`,
    );
  const results: BenchResult[] = [];
  for (const [index, each] of chosen.entries()) {
    process.stderr.write(`${index + 1} of ${chosen.length}: ${each.name} …\n`);
    const result = measure(each);
    results.push(result);
    process.stdout.write(`${lineOf(result)}\n`);
  }
  if (json !== undefined)
    await writeFile(json, `${JSON.stringify({ machine: machine(), results }, null, 2)}\n`);
}

process.exitCode = await runCommand(help, async (argv) => {
  const { values } = readCommandLine(argv, options);
  if (values.help) return 'help';
  await run(values);
  return 0;
});
