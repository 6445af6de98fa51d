import { splitSentences } from '#infra/fake-gemini/answers/sentences.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { aligned } from '#infra/text-table.ts';
import { compactGrowing, standingAfter } from '../run/eval-generations.ts';
import { scoreInvention, textsIn, type InventionScore } from './eval-invention-score.ts';
import { forEachRecording, runMode, type Mode, type Task } from '../eval-mode.ts';
import { modeOptionsHelp, type ModeArguments } from '../eval-mode-arguments.ts';
import { turnsOf } from '../run/eval-turns.ts';

const help = `Usage: npm run eval:invention -- --data FILE.jsonl [options]

Compacts with a summariser that alters every tenth number, and counts the altered numbers that stand in the
swapped snapshot though nobody said them: where they do harm (money, contacts, references, doses, identifiers), and
elsewhere, where they are kept as unconfirmed.

${modeOptionsHelp}
                           (default: inventive=0.1)

Exit code: 0 none came through, or no data file; 1 some did, or nothing was swapped; 2 wrong arguments.`;

interface Invented {
  strategy: string;
  file: string;
  id: string;
  state: string;
  reason?: string;
  /** Absent when nothing was swapped. */
  score?: InventionScore;
}

async function invent(wanted: ModeArguments, task: Task): Promise<Invented> {
  const { bench, recording, strategy, file } = task;
  bench.fakeGemini?.clearJournal();
  const { conversationId, generations } = await compactGrowing(bench, wanted, recording);
  const last = generations.at(-1);
  const standing = await standingAfter(bench, conversationId, last);
  const alterations = bench.fakeGemini?.journal().flatMap(({ altered = [] }) => altered) ?? [];
  const days = turnsOf(recording).map(({ at }) => at.toISOString().slice(0, 10));
  return {
    strategy,
    file,
    id: recording.id,
    state: last?.state ?? 'NOTHING',
    ...(last?.reason !== undefined && { reason: last.reason }),
    ...(standing && {
      score: scoreInvention({
        alterations,
        statements: standing.statements,
        conversation: [...textsIn([recording.system, recording.turns]), ...days],
        lines: readUtterances([...standing.folded, ...standing.kept]).flatMap(({ text }) =>
          splitSentences(text),
        ),
      }),
    }),
  };
}

function rowOf(title: string, results: readonly Invented[]): string[] {
  const scores = results.flatMap(({ score }) => score ?? []);
  const sum = (count: (score: InventionScore) => number): string =>
    String(scores.reduce((total, score) => total + count(score), 0));
  return [
    title,
    `${scores.length}/${results.length}`,
    sum(({ altered }) => altered.length),
    sum(({ foreign }) => foreign.length),
    sum(({ standing }) => standing.length),
    sum(({ unconfirmed }) => unconfirmed.length),
    sum(({ mixedUp }) => mixedUp.length),
    sum(({ saidElsewhere }) => saidElsewhere.length),
  ];
}

const titles = [
  'file',
  'swapped',
  'altered',
  'never said',
  'STANDING',
  'unconfirmed',
  'mixed up',
  'said elsewhere',
];

const invention: Mode = {
  help,
  defaults: { strategies: 'ledger,gemini-cli', repeat: '1', vices: 'inventive=0.1' },
  run: async (wanted, files) => {
    const results = await forEachRecording(wanted, files, (task) => invent(wanted, task));
    const groups = Map.groupBy(results, ({ strategy, file }) => `${strategy} ${file}`);
    const failures = results
      .filter(({ score }) => score === undefined)
      .map(({ strategy, id, state, reason }) => `${strategy} ${id}: ${state} (${reason ?? '-'})`);
    return {
      text: [
        aligned([titles, ...[...groups].map(([title, own]) => rowOf(title, own))]),
        ...failures,
      ].join('\n'),
      figures: { wanted, results },
      isGood: results.every(({ score }) => score?.standing.length === 0),
    };
  },
};

await runMode(invention);
