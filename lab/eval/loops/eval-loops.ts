import { aligned } from '#infra/text-table.ts';
import { readLoops, type LoopReading } from './eval-loops-score.ts';
import {
  recordingsOf,
  runMode,
  type DataFile,
  type Mode,
  type ModeArguments,
} from '../eval-mode.ts';

const help = `Usage: npm run eval:loops -- --data FILE.jsonl [options]

Lets the detectors of loops judge recorded conversations: every round of tool calls before it runs, and every
text of the model. An alarm there is a false one. Then it plants loops: the last one to five calls of a turn
made five times in a row, and phrases of five lengths from each text said ten times, and tells how many of
them are found. "blind" counts the alarms of a rule that does not look at what the calls gave.

  --data FILE.jsonl        what to read; several times for several files
  --json OUT               write the figures to this file
  --limit N                only the first N conversations of each file
  --ids A,B                only these
  --help                   this text

Exit code: 0 no false alarm and all planted loops found, or no data file; 1 not; 2 wrong arguments.`;

const titles = [
  'file',
  'conversations',
  'calls',
  'false',
  'blind',
  'planted',
  'found',
  'texts',
  'characters',
  'false',
  'planted',
  'found',
];

interface FileReading {
  file: string;
  readings: LoopReading[];
}

const sumOf = (
  readings: readonly LoopReading[],
  figure: (reading: LoopReading) => number,
): number => readings.reduce((all, reading) => all + figure(reading), 0);

const rowOf = ({ file, readings }: FileReading): string[] => [
  file,
  ...[
    readings.length,
    sumOf(readings, ({ calls }) => calls),
    sumOf(readings, ({ callAlarms }) => callAlarms),
    sumOf(readings, ({ blindAlarms }) => blindAlarms),
    sumOf(readings, ({ plantedCalls }) => plantedCalls.planted),
    sumOf(readings, ({ plantedCalls }) => plantedCalls.found),
    sumOf(readings, ({ texts }) => texts),
    sumOf(readings, ({ characters }) => characters),
    sumOf(readings, ({ chantAlarms }) => chantAlarms),
    sumOf(readings, ({ plantedRepetitions }) => plantedRepetitions.planted),
    sumOf(readings, ({ plantedRepetitions }) => plantedRepetitions.found),
  ].map(String),
];

const readFile = (wanted: ModeArguments, file: DataFile): FileReading => ({
  file: file.name,
  readings: recordingsOf(wanted, file).map(readLoops),
});

const isGood = ({
  callAlarms,
  chantAlarms,
  plantedCalls,
  plantedRepetitions,
}: LoopReading): boolean =>
  callAlarms === 0 &&
  chantAlarms === 0 &&
  plantedCalls.found === plantedCalls.planted &&
  plantedRepetitions.found === plantedRepetitions.planted;

const loops: Mode = {
  help,
  defaults: { strategies: 'ledger' },
  run: (wanted, files) => {
    const read = files.map((file) => readFile(wanted, file));
    const all = { file: 'all', readings: read.flatMap(({ readings }) => readings) };
    return Promise.resolve({
      text: aligned([titles, ...[...read, all].map(rowOf)]),
      figures: { wanted, files: read },
      isGood: all.readings.every(isGood),
    });
  },
};

await runMode(loops);
