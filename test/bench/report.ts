import type { TopLevelSpec } from 'vega-lite';
import type { BenchGroup, BenchResult } from './bench-case.ts';
import type { Machine } from './machine.ts';

export interface BenchRun {
  machine: Machine;
  results: readonly BenchResult[];
}

const shown = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(3)));

const sign = ({ direction }: BenchResult) => (direction === 'atMost' ? '≤' : '≥');

/** How much of its aim a result takes up: at most 1 where it is met, whichever way the aim points. */
export const shareOfAim = ({ ratio, aim, direction }: BenchResult): number =>
  direction === 'atMost' ? ratio / aim : aim / ratio;

/** One line for a person at a terminal. */
export function lineOf(result: BenchResult): string {
  const { name, unit, ours, reference, referenceName, ratio, aim, met, spread, note } = result;
  return [
    `${met ? 'met   ' : 'missed'} ${name}: ${shown(ours)} ${unit} (± ${shown(spread * 50)} %), ${shown(ratio)} ×`,
    `${referenceName} (${shown(reference)} ${unit}); aim ${sign(result)} ${aim}${note === undefined ? '' : `. ${note}`}`,
  ].join(' ');
}

function rowOf(result: BenchResult): string {
  const { name, unit, ours, reference, referenceName, ratio, aim, met, samples, spread } = result;
  return [
    '',
    name,
    `${shown(ours)} ${unit}`,
    `${shown(reference)} ${unit}: ${referenceName}`,
    shown(ratio),
    `${sign(result)} ${aim}`,
    met ? 'yes' : '**no**',
    `${samples}, ${shown(spread * 100)} %`,
    '',
  ].join(' | ');
}

const head = [
  '| Name | Recap | Reference | Ratio | Aim | Met | Samples, spread |',
  '| --- | --- | --- | --- | --- | --- | --- |',
];

/** One group: its picture and its table; '' where nothing of it was measured. */
function sectionOf({ name, title }: BenchGroup, results: readonly BenchResult[]): string {
  const own = results.filter(({ group }) => group === name);
  if (own.length === 0) return '';
  const notes = own.flatMap(({ name: of, note }) =>
    note === undefined ? [] : [`${of}: ${note}.`],
  );
  return [
    `## ${title}`,
    `![How much of their aims the figures take up](${name}.svg)`,
    [...head, ...own.map((each) => rowOf(each).trim())].join('\n'),
    ...notes,
  ].join('\n\n');
}

/** The report in Markdown; pictures stand beside it, named after the groups. */
export function reportOf(groups: readonly BenchGroup[], { machine, results }: BenchRun): string {
  const { date, node, cpu, cores, memoryGb, platform } = machine;
  const missed = results.filter(({ met }) => !met).length;
  const intro = [
    '# Measured',
    `Written by \`npm run bench -- --report\` on ${date}: ${cpu}, ${cores} cores, ${memoryGb} GB, ${platform}, Node ${node}. ` +
      `${results.length} figures, ${missed === 0 ? 'all aims met' : `aims missed: ${missed}`}. ` +
      'Figures are medians; the spread is (largest − smallest) ÷ median of the samples of Recap. ' +
      'What each means: [README](README.md). In the pictures a bar that ends left of the line is an aim that is met.',
  ];
  const sections = groups.map((group) => sectionOf(group, results));
  return `${[...intro, ...sections].filter((text) => text !== '').join('\n\n')}\n`;
}

const byName = { field: 'name', type: 'nominal', sort: null, title: null } as const;

/** Bars of how much of its aim each figure takes up, with a line at the aim. */
export const chartOf = (group: BenchGroup, results: readonly BenchResult[]): TopLevelSpec => ({
  $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
  title: group.title,
  background: 'white',
  width: 420,
  data: {
    values: results
      .filter(({ group: of }) => of === group.name)
      .map((result) => ({
        name: result.name,
        share: shareOfAim(result),
        met: result.met ? 'met' : 'missed',
        label: `${shown(result.ratio)} (${sign(result)} ${result.aim})`,
      })),
  },
  encoding: {
    x: { field: 'share', type: 'quantitative', title: 'share of the aim that is taken up' },
  },
  layer: [
    {
      mark: 'bar',
      encoding: {
        y: byName,
        color: {
          field: 'met',
          type: 'nominal',
          title: null,
          legend: { orient: 'bottom' },
          scale: { domain: ['met', 'missed'], range: ['#3b7dd8', '#d8663b'] },
        },
      },
    },
    {
      mark: { type: 'text', align: 'left', dx: 4 },
      encoding: { y: byName, text: { field: 'label', type: 'nominal' } },
    },
    { mark: { type: 'rule', strokeDash: [4, 3] }, encoding: { x: { datum: 1 } } },
  ],
});
