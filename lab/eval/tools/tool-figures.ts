import { aligned } from '#infra/text-table.ts';
import type { LoopReading } from '../loops/eval-loops-score.ts';
import type { ToolReplay } from './judge-replay.ts';

/** A dialogue that was replayed, and what the detectors of loops said of its recording. */
export interface ReplayedDialogue extends ToolReplay {
  loops: Pick<LoopReading, 'callAlarms' | 'chantAlarms'>;
}

/** The dialogues of one file. */
export interface ReplayedFile {
  file: string;
  dialogues: ReplayedDialogue[];
}

const sum = (all: readonly ReplayedDialogue[], figure: (one: ReplayedDialogue) => number): number =>
  all.reduce((total, one) => total + figure(one), 0);

/** Failed by what it read or wrote. One that would have saved too little leaves the context as it is. */
const isBroken = (name: string): boolean =>
  /^(FAILED|ABORTED)/.test(name) && !name.startsWith('FAILED_INFLATED_TOKEN_COUNT');

const compactionsOf = (one: ReplayedDialogue, isCounted: (name: string) => boolean): number =>
  Object.entries(one.compactions).reduce(
    (total, [name, count]) => total + (isCounted(name) ? count : 0),
    0,
  );

const isSwapped = (name: string) =>
  name.startsWith('COMPACTED') || name.startsWith('CONTENT_TRUNCATED');

interface Column {
  title: string;
  of: (all: readonly ReplayedDialogue[]) => number;
  /** It counts what must not be: anything but 0 fails the run. */
  isDefect?: true;
}

const summed = (title: string, figure: (one: ReplayedDialogue) => number): Column => ({
  title,
  of: (all) => sum(all, figure),
});

const defect = (title: string, figure: (one: ReplayedDialogue) => number): Column => ({
  ...summed(title, figure),
  isDefect: true,
});

const columns: readonly Column[] = [
  { title: 'dialogues', of: (all) => all.length },
  summed('turns', ({ turns }) => turns),
  summed('calls', ({ calls }) => calls),
  summed('parallel', ({ parallel }) => parallel),
  summed('stopped', ({ stopped }) => stopped),
  summed('filled', ({ filled }) => filled),
  summed('prompts', ({ prompts }) => prompts),
  defect('refused', ({ refusals }) => refusals.length),
  defect('failed', ({ failures, errors }) => failures.length + errors.length),
  defect('differ', ({ transcript }) => transcript.length),
  summed('compacted', (one) => compactionsOf(one, isSwapped)),
  defect('broken', (one) => compactionsOf(one, isBroken)),
  summed('contexts', ({ contexts }) => contexts.compared),
  defect('others', ({ contexts }) => contexts.different.length),
  {
    title: 'outputs',
    of: (all) => Math.ceil(Math.max(0, ...all.map((one) => one.mostOutputTokens))),
  },
  defect('over', ({ overBudget }) => overBudget),
  defect('after', ({ afterSwap }) => afterSwap.overBudget),
  defect('loops', ({ loops }) => loops.callAlarms + loops.chantAlarms),
];

const rowOf = ({ file, dialogues }: ReplayedFile): string[] => [
  file,
  ...columns.map(({ of }) => String(of(dialogues))),
];

/** Findings of one dialogue that are told below the table. */
const TOLD_MAX = 5;

const findingsOf = ({ id, ...found }: ReplayedDialogue): string[] => {
  const all = [
    ...found.failures,
    ...found.refusals.map((refusal) => `refused, ${refusal}`),
    ...found.transcript,
    ...found.contexts.different.map((difference) => `context of ${difference}`),
    ...Object.keys(found.compactions).filter(isBroken),
    ...found.errors,
  ];
  const more = all.length > TOLD_MAX ? [`${all.length - TOLD_MAX} more`] : [];
  return [...all.slice(0, TOLD_MAX), ...more].map((finding) => `${id}: ${finding}`);
};

function compactionLine(dialogues: readonly ReplayedDialogue[]): string {
  const counts = new Map<string, number>();
  for (const { compactions } of dialogues)
    for (const [name, count] of Object.entries(compactions))
      counts.set(name, (counts.get(name) ?? 0) + count);
  const parts = [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`);
  return `compactions: ${parts.length === 0 ? 'none' : parts.join(', ')}`;
}

/** The table, a line a file, and below it what is wrong. */
export function toolsText(files: readonly ReplayedFile[]): string {
  const dialogues = files.flatMap((each) => each.dialogues);
  const rows = [...files, { file: 'all', dialogues }].map(rowOf);
  return [
    aligned([['file', ...columns.map(({ title }) => title)], ...rows]),
    compactionLine(dialogues),
    ...dialogues.flatMap(findingsOf),
  ].join('\n');
}

/** Titles of the columns that must be 0 and are not, in the order of the table. */
export const defectsIn = (dialogues: readonly ReplayedDialogue[]): string[] =>
  columns
    .filter(({ isDefect, of }) => isDefect === true && of(dialogues) !== 0)
    .map(({ title }) => title);
