import type { Aim, BenchGroup, BenchResult } from '../bench-case.ts';
import { aimOf } from './bench-result.ts';
import type { Machine } from './machine.ts';
import type { ReportPage } from './report-pages.ts';

export interface BenchRun {
  machine: Machine;
  results: readonly BenchResult[];
}

/** A figure for people; – where there is none. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return value >= 100
    ? Math.round(value).toLocaleString('en-US')
    : String(Number(value.toPrecision(3)));
}

/** How an aim's direction is written. */
export const sign = ({ direction }: Aim) => (direction === 'atMost' ? '≤' : '≥');

/** How much of its aim a ratio takes up: at most 1 where it is met, whichever way the aim points. */
export const shareOfAim = ({ ratio, aim, direction }: Aim & { ratio: number }): number =>
  direction === 'atMost' ? ratio / aim : aim / ratio;

const verdicts = { yes: 'met   ', no: 'missed', none: 'told  ' } as const;

const verdictOf = ({ met }: BenchResult) => (met === undefined ? 'none' : met ? 'yes' : 'no');

/** What the framework and the SDKs alone come to. */
const aloneText = ({ alone, unit }: BenchResult): string | undefined =>
  alone && `framework and SDKs alone ${shown(alone.value)} ${unit}, ${shown(alone.ratio)} ×`;

/** One line for a person at a terminal. */
export function lineOf(result: BenchResult): string {
  const { name, unit, ours, reference, referenceName, ratio, spread, note } = result;
  const aim = aimOf(result);
  const alone = aloneText(result);
  return [
    `${verdicts[verdictOf(result)]} ${name}: ${shown(ours)} ${unit} (± ${shown(spread * 50)} %), ${shown(ratio)} ×`,
    `${referenceName} (${shown(reference)} ${unit})${aim === undefined ? '' : `; aim ${sign(aim)} ${aim.aim}`}${alone === undefined ? '' : `; ${alone}`}${note === undefined ? '' : `. ${note}`}`,
  ].join(' ');
}

const metCell = { yes: 'yes', no: '**no**', none: '' } as const;

/** A row of the table. With lines there are many figures, and the note stands beside its own. */
function rowOf(result: BenchResult, { lines }: BenchGroup): string {
  const { name, unit, ours, reference, referenceName, ratio, samples, spread, note = '' } = result;
  const aim = aimOf(result);
  return [
    '',
    name,
    `${shown(ours)} ${unit}`,
    `${shown(reference)} ${unit}: ${referenceName}`,
    shown(ratio),
    aim === undefined ? '' : `${sign(aim)} ${aim.aim}`,
    metCell[verdictOf(result)],
    `${samples}, ${shown(spread * 100)} %`,
    ...(lines === undefined ? [] : [note]),
    '',
  ].join(' | ');
}

function headOf({ lines }: BenchGroup): string[] {
  const columns = ['Name', 'Recap', 'Reference', 'Ratio', 'Aim', 'Met', 'Samples, spread'];
  const all = lines === undefined ? columns : [...columns, 'The reference'];
  return [`| ${all.join(' | ')} |`, `| ${all.map(() => '---').join(' | ')} |`];
}

function notesOf(results: readonly BenchResult[], { lines }: BenchGroup): string[] {
  if (lines !== undefined) return [];
  return results.flatMap((result) => {
    const said = [aloneText(result), result.note].filter((text) => text !== undefined);
    return said.length === 0 ? [] : [`${result.name}: ${said.join('. ')}.`];
  });
}

/** One group: its picture and its table; '' where nothing of it was measured. */
function sectionOf(group: BenchGroup, results: readonly BenchResult[]): string {
  const own = results.filter(({ group: input }) => input === group.name);
  if (own.length === 0) return '';
  const { name, title, lines } = group;
  const picture =
    lines === undefined ? 'How much of their aims the figures take up' : `${title}, by ${lines.at}`;
  return [
    `## ${title}`,
    ...(hasPicture(group, own) ? [`![${picture}](${name}.svg)`] : []),
    [...headOf(group), ...own.map((each) => rowOf(each, group).trim())].join('\n'),
    ...notesOf(own, group),
  ].join('\n\n');
}

/** Whether there is something to draw: lines, or a figure with an aim. */
export const hasPicture = ({ name, lines }: BenchGroup, results: readonly BenchResult[]): boolean =>
  results.some(
    (result) => result.group === name && (lines !== undefined || aimOf(result) !== undefined),
  );

/** What falls short, before everything else; '' where nothing does. */
function missedTable(missed: readonly BenchResult[]): string {
  if (missed.length === 0) return '';
  const rows = missed.map((result) => {
    const aim = aimOf(result);
    const wanted = aim === undefined ? '' : `${sign(aim)} ${aim.aim}`;
    const alone = result.alone === undefined ? '' : shown(result.alone.ratio);
    return `| ${result.name} | ${shown(result.ratio)} | ${wanted} | ${alone} | ${result.referenceName} |`;
  });
  return [
    '| Missed | Ratio | Aim | Framework and SDKs alone | To |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

/** A page in Markdown; pictures stand beside it, named after the groups. */
export function reportOf(
  page: ReportPage,
  groups: readonly BenchGroup[],
  { machine, results }: BenchRun,
): string {
  const { date, node, cpu, cores, memoryGb, platform } = machine;
  const missed = results.filter(({ met }) => met === false);
  const intro = [
    `# ${page.title}`,
    `Written by \`${page.command}\` on ${date}: ${cpu}, ${cores} cores, ${memoryGb} GB, ${platform}, Node ${node}. ` +
      `${results.length} figures, ${missed.length === 0 ? 'all aims met' : `aims missed: ${missed.length}`}.`,
    missedTable(missed),
    ...page.about,
  ];
  const sections = groups.map((group) => sectionOf(group, results));
  return `${[...intro, ...sections].filter((text) => text !== '').join('\n\n')}\n`;
}
