import { cpus, totalmem } from 'node:os';
import type { Aim, BenchGroup, BenchResult, Verdict } from '../measure.ts';

/** What figures were measured on. */
interface Machine {
  /** Day of the measurement, ISO 8601. */
  date: string;
  node: string;
  platform: string;
  cpu: string;
  cores: number;
  memoryGb: number;
}

/** The machine that this process runs on, today. */
export const thisMachine = (): Machine => ({
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  platform: `${process.platform} ${process.arch}`,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memoryGb: Math.round(totalmem() / 1e9),
});

/** A figure for people; – where there is none. */
function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return value >= 100
    ? Math.round(value).toLocaleString('en-US')
    : String(Number(value.toPrecision(3)));
}

const shownAim = ({ direction, ratio }: Aim) => `${direction === 'atMost' ? '≤' : '≥'} ${ratio}`;

const shownSpread = ({ spread: [smallest, largest], samples }: BenchResult) =>
  samples === 1 ? 'one sample' : `${shown(smallest)} – ${shown(largest)}`;

/** One line for a person at a terminal. */
export function lineOf(result: BenchResult): string {
  const { verdict, name, unit, ours, reference, referenceName, ratio, aim, note } = result;
  const aimText = aim === undefined ? '' : `; aim ${shownAim(aim)}`;
  const noteText = note === undefined ? '' : `. ${note}`;
  return [
    `${verdict.padEnd(6)} ${name}: ${shown(ratio)} × (${shownSpread(result)})${aimText};`,
    `${shown(ours)} ${unit}, ${referenceName} ${shown(reference)} ${unit}${noteText}`,
  ].join(' ');
}

const verdictCell: Readonly<Record<Verdict, string>> = {
  met: 'yes',
  within: 'within the spread',
  missed: '**no**',
  told: '',
};

const head = ['Name', 'Ratio', 'Spread', 'Aim', 'Met', 'Recap', 'Reference'];

function rowOf(result: BenchResult): string {
  const { name, unit, ours, reference, referenceName, ratio, aim, verdict } = result;
  const cells = [
    name,
    shown(ratio),
    shownSpread(result),
    aim === undefined ? '' : shownAim(aim),
    verdictCell[verdict],
    `${shown(ours)} ${unit}`,
    `${shown(reference)} ${unit}: ${referenceName}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

const rowsOf = ({ name, title }: BenchGroup, results: readonly BenchResult[]): string[] => {
  const rows = results.filter(({ group }) => group === name).map(rowOf);
  return rows.length === 0 ? [] : [`| **${title}** |${' |'.repeat(head.length - 1)}`, ...rows];
};

export interface BenchRun {
  machine: Machine;
  results: readonly BenchResult[];
}

/** A page in Markdown: one table and one picture, which stands beside it. */
export function reportOf(groups: readonly BenchGroup[], { machine, results }: BenchRun): string {
  const { date, node, cpu, cores, memoryGb, platform } = machine;
  const namesOf = (verdict: Verdict) =>
    results.filter((result) => result.verdict === verdict).map((result) => result.name);
  const missed = namesOf('missed');
  const within = namesOf('within');
  return [
    '# Measured\n',
    `Written by \`npm run bench -- --report\` on ${date}: ${cpu}, ${cores} cores, ${memoryGb} GB, ${platform}, Node ${node}.\n`,
    missed.length === 0 ? 'No aim is missed.\n' : `Missed: ${missed.join(', ')}.\n`,
    ...(within.length === 0 ? [] : [`Beyond the aim within the spread: ${within.join(', ')}.\n`]),
    'A ratio is the median of our sample ÷ that of the reference taken right after it; the spread is the smallest and the ' +
      'largest of them. An aim is missed if all of them lie beyond it. What each figure means: [benchmarks](../benchmarks.md).\n',
    '![Ratios and their spreads, as shares of the aims](speed.svg)\n',
    `| ${head.join(' | ')} |`,
    `| ${head.map(() => '---').join(' | ')} |`,
    ...groups.flatMap((group) => rowsOf(group, results)),
    '',
    ...results.flatMap((result) =>
      result.note === undefined ? [] : [`- ${result.name}: ${result.note}`],
    ),
    '',
  ].join('\n');
}
