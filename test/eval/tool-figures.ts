import { aligned } from './eval-aligned.ts';
import type { LoopReading } from './eval-loops-score.ts';
import type { ToolReplay } from './tool-replay.ts';

/** A dialogue that was replayed, and what the detectors of loops said of its recording. */
export interface ReplayedDialogue extends ToolReplay {
  loops: Pick<LoopReading, 'callAlarms' | 'chantAlarms'>;
}

/** The dialogues of one file. */
export interface ReplayedFile {
  file: string;
  dialogues: ReplayedDialogue[];
}

const sum = (all: readonly ReplayedDialogue[], of: (one: ReplayedDialogue) => number): number =>
  all.reduce((total, one) => total + of(one), 0);

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

const columns: readonly (readonly [string, (all: readonly ReplayedDialogue[]) => number])[] = [
  ['dialogues', (all) => all.length],
  ['turns', (all) => sum(all, ({ turns }) => turns)],
  ['calls', (all) => sum(all, ({ calls }) => calls)],
  ['parallel', (all) => sum(all, ({ parallel }) => parallel)],
  ['stopped', (all) => sum(all, ({ stopped }) => stopped)],
  ['filled', (all) => sum(all, ({ filled }) => filled)],
  ['prompts', (all) => sum(all, ({ prompts }) => prompts)],
  ['refused', (all) => sum(all, ({ refusals }) => refusals.length)],
  ['failed', (all) => sum(all, ({ failures, errors }) => failures.length + errors.length)],
  ['differ', (all) => sum(all, ({ transcript }) => transcript.length)],
  ['compacted', (all) => sum(all, (one) => compactionsOf(one, isSwapped))],
  ['broken', (all) => sum(all, (one) => compactionsOf(one, isBroken))],
  ['contexts', (all) => sum(all, ({ contexts }) => contexts.compared)],
  ['others', (all) => sum(all, ({ contexts }) => contexts.different.length)],
  ['outputs', (all) => Math.ceil(Math.max(0, ...all.map((one) => one.mostOutputTokens)))],
  ['over', (all) => sum(all, ({ overBudget }) => overBudget)],
  ['after', (all) => sum(all, ({ afterSwap }) => afterSwap.overBudget)],
  ['loops', (all) => sum(all, ({ loops }) => loops.callAlarms + loops.chantAlarms)],
];

const rowOf = ({ file, dialogues }: ReplayedFile): string[] => [
  file,
  ...columns.map(([, of]) => String(of(dialogues))),
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
    aligned([['file', ...columns.map(([title]) => title)], ...rows]),
    compactionLine(dialogues),
    ...dialogues.flatMap(findingsOf),
  ].join('\n');
}

/** Whether all that must hold holds: nothing refused, lost, other than shown, failed, or taken for a loop. */
export const isFaultless = (dialogue: ReplayedDialogue): boolean =>
  findingsOf(dialogue).length === 0 &&
  dialogue.afterSwap.overBudget === 0 &&
  dialogue.loops.callAlarms + dialogue.loops.chantAlarms === 0;
