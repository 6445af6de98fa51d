import { aligned } from '#infra/text-table.ts';
import {
  forEachStrategy,
  modeOptionsHelp,
  recordingsOf,
  runMode,
  type Mode,
} from '../eval/eval-mode.ts';
import { ArgumentError } from '../eval/replay/replay-arguments.ts';
import { harmDefaults } from './harm-defaults.ts';
import { summarise } from './harm-figures.ts';
import { measureHarm, type HarmedGeneration } from './harm-run.ts';

const help = `Usage: npm run eval:harm -- --data FILE.jsonl --answers DIR [options]

Compacts conversations with the recorded answers of a capable model, and tells what verification did to them:
which share of what the model stated stands in the snapshot or its archive, how much of the snapshot code has added,
how many values are marked as said by nobody, and how many updates only reword what is known.

${modeOptionsHelp}
                           (default here: --model files, --strategies ledger)

Exit code: 0 there are figures, or no data file; 2 wrong arguments; 3 prompts have no answer.`;

const titles = [
  'conversation',
  'gen',
  'state',
  'statements',
  'kept',
  'added',
  'lines',
  'marked',
  'reworded',
  'calls',
  'tokens',
];

const cell = (value: number | undefined): string => (value === undefined ? '-' : String(value));

const row = (harmed: HarmedGeneration): string[] => [
  harmed.id,
  String(harmed.generation),
  harmed.reason === undefined ? harmed.state : `${harmed.state} (${harmed.reason})`,
  String(harmed.statements),
  harmed.kept.toFixed(3),
  harmed.added?.toFixed(3) ?? '-',
  cell(harmed.addedLines),
  cell(harmed.marked),
  cell(harmed.reworded),
  String(harmed.calls),
  cell(harmed.snapshotTokens),
];

const harm: Mode = {
  help,
  defaults: harmDefaults,
  run: async (wanted, files) => {
    if (wanted.strategies.includes('gemini-cli'))
      throw new ArgumentError(
        '--strategies takes ledger here: others write no statements to look for',
      );
    const generations: HarmedGeneration[] = [];
    // A conversation that waits in its second generation has figures of the first.
    await forEachStrategy(wanted, async (bench) => {
      for (const recording of files.flatMap((file) => recordingsOf(wanted, file)))
        generations.push(...(await measureHarm(bench, wanted, recording)));
    });
    const { refused, kept, added } = summarise(generations);
    return {
      text: [
        aligned([titles, ...generations.map(row)], [0, 2]),
        `${generations.length} generations, ${refused} refused; in the mean kept ${kept}, added ${added}`,
      ].join('\n'),
      figures: { generations },
      isGood: true,
    };
  },
};

await runMode(harm);
