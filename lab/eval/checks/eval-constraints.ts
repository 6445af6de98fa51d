import { z } from 'zod';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { aligned, percentage } from '#infra/text-table.ts';
import { isPresent, readValues, valuesOf, type ValueReading } from './eval-constraints-score.ts';
import { compactGrowing, standingAfter, storedTurns } from '../run/eval-generations.ts';
import { forEachRecording, runMode, type Mode, type Task } from '../eval-mode.ts';
import { modeOptionsHelp, type ModeArguments } from '../eval-mode-arguments.ts';

const help = `Usage: npm run eval:constraints -- --data FILE.jsonl [options]

Compacts conversations whose important values are known ("meta.expectedArgs", or the answers of probes of the
category "slot"), and tells where those are that the user said in the folded turns.

${modeOptionsHelp}

Exit code: 0 all of them are in the context or listed as left out, or no data file; 1 some are not, or a
compaction failed; 2 wrong arguments.`;

interface Constrained {
  strategy: string;
  file: string;
  id: string;
  state: string;
  reason?: string;
  /** Length of the report's list of what is missing, which is bounded, and how long it would be. */
  listed: number;
  listedOf: number;
  /** Absent when nothing was swapped. */
  values?: ValueReading[];
}

const reportSchema = z.looseObject({
  leftOut: z.array(z.looseObject({ text: z.string() })).catch([]),
  leftOutCount: z.number().catch(0),
  missingIdentifiers: z.array(z.string()).catch([]),
});

const userTexts = (turns: readonly Turn[]): string[] =>
  readUtterances(turns)
    .filter(({ speaker }) => speaker === 'user')
    .map(({ text }) => text);

async function constrain(wanted: ModeArguments, task: Task): Promise<Constrained> {
  const { bench, recording, strategy, file } = task;
  const { conversationId, generations } = await compactGrowing(bench, wanted, recording);
  const last = generations.at(-1);
  const standing = await standingAfter(bench, conversationId, last);
  const result = {
    strategy,
    file,
    id: recording.id,
    state: last?.state ?? 'NOTHING',
    ...(last?.reason !== undefined && { reason: last.reason }),
  };
  if (standing === undefined || last === undefined) return { ...result, listed: 0, listedOf: 0 };
  const { history, folded, kept, statements } = standing;
  const report = reportSchema.parse(history.report);
  const conversation = await readConversation(bench.dependencies.store, conversationId);
  const all = await storedTurns(bench, conversationId, { first: 1, last: last.stored });
  const leftOut = [...report.leftOut.map(({ text }) => text), ...report.missingIdentifiers];
  return {
    ...result,
    listed: leftOut.length,
    listedOf: Math.max(report.leftOutCount, leftOut.length),
    values: readValues(valuesOf(recording), {
      foldedUser: userTexts(folded),
      snapshot: statements,
      pins: conversation?.value.pins.map(({ text }) => text) ?? [],
      tail: readUtterances(kept).map(({ text }) => text),
      leftOut,
      archive: history.snapshot?.archive.map(({ text }) => text) ?? [],
      transcript: userTexts(all),
    }),
  };
}

const titles = [
  'file',
  'swapped',
  'said',
  'present',
  'snapshot',
  'tail',
  'absent',
  'listed',
  'archived',
  'UNLISTED',
  'found by search',
];

function rowOf(title: string, results: readonly Constrained[]): string[] {
  const values = results.flatMap((each) => each.values ?? []);
  const absent = values.filter((value) => !isPresent(value));
  const share = (is: (value: ValueReading) => boolean): string =>
    percentage(values.filter(is).length, values.length);
  return [
    title,
    `${results.filter((each) => each.values !== undefined).length}/${results.length}`,
    String(values.length),
    share(isPresent),
    share(({ inSnapshot }) => inSnapshot),
    share(({ inTail }) => inTail),
    String(absent.length),
    String(absent.filter(({ isListed }) => isListed).length),
    String(absent.filter(({ isArchived }) => isArchived).length),
    String(absent.filter(({ isListed }) => !isListed).length),
    share(({ isFound }) => isFound),
  ];
}

const constraints: Mode = {
  help,
  defaults: { strategies: 'ledger,gemini-cli', repeat: '1', vices: '' },
  run: async (wanted, files) => {
    const results = await forEachRecording(wanted, files, (task) => constrain(wanted, task));
    const groups = Map.groupBy(results, ({ strategy, file }) => `${strategy} ${file}`);
    const failures = results
      .filter(({ values }) => values === undefined)
      .map(({ strategy, id, state, reason }) => `${strategy} ${id}: ${state} (${reason ?? '-'})`);
    return {
      text: [
        aligned([titles, ...[...groups].map(([title, own]) => rowOf(title, own))]),
        ...failures,
      ].join('\n'),
      figures: { wanted, results },
      isGood: results.every(({ values }) =>
        values?.every((value) => isPresent(value) || value.isListed),
      ),
    };
  },
};

await runMode(constraints);
