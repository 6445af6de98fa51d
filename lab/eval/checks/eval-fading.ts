import type { Fact } from '#shared/compaction/facts/index/fact.ts';
import { aligned, percentage } from '#infra/text-table.ts';
import { readingOf, sumReadings, type FadingReading } from './eval-fading-score.ts';
import { compactGrowing, standingAfter, storedTurns } from '../run/eval-generations.ts';
import { factsHeld, measure } from '../run/eval-measure.ts';
import { forEachRecording, runMode, type Mode, type Task } from '../eval-mode.ts';
import { modeOptionsHelp, type ModeArguments } from '../eval-mode-arguments.ts';

const help = `Usage: npm run eval:fading -- --data FILE.jsonl [options]

Compacts growing conversations again and again, and tells which share of the facts that the first snapshot
held, and that nobody says again later, is still in the context after the second and after the last generation.

${modeOptionsHelp}
  --repeat K               generations (default 10)

The stand-in is forgetful=0.2 where --vices say nothing else, and draws afresh in each generation: its seed is
"SEED/generation". Else it would forget the same statements each time, and never one that it has kept once.

Exit code: 0 there are figures, or no data file; 1 no conversation reached a second generation; 2 wrong arguments.`;

/** What a generation says of the first: of what nobody says again, and of all that the first snapshot held. */
interface Readings {
  own: FadingReading;
  all: FadingReading;
}

interface Faded {
  strategy: string;
  file: string;
  id: string;
  /** States of the compactions, oldest first. */
  states: string[];
  /** By generation, from the one after the first swap on; null where it did not swap. */
  generations: (Readings | null)[];
}

/** Of the facts that the first snapshot held, those that nobody says again: only snapshots can carry them. */
async function saidOnce(
  { bench, conversationId }: { bench: Task['bench']; conversationId: string },
  facts: readonly Fact[],
  range: { first: number; last: number },
): Promise<Fact[]> {
  const later = await storedTurns(bench, conversationId, range);
  const saidAgain = new Set(factsHeld(facts, { statements: [], kept: later }));
  return facts.filter((fact) => !saidAgain.has(fact));
}

async function fade(wanted: ModeArguments, task: Task): Promise<Faded> {
  const { bench, recording, strategy, file } = task;
  const beforeEach = (generation: number): void =>
    bench.fakeGemini?.setSeed(`${wanted.seed}/${generation}`);
  const settings = { ...wanted, goesOn: true, beforeEach };
  const { conversationId, generations } = await compactGrowing(bench, settings, recording);
  const states = generations.map(({ state }) => state);
  const firstSwap = generations.findIndex(({ history }) => history !== undefined);
  const first = await standingAfter(bench, conversationId, generations[firstSwap]);
  if (first === undefined) return { strategy, file, id: recording.id, states, generations: [] };
  const all = measure(first).inSnapshot;
  const own = await saidOnce({ bench, conversationId }, all, {
    first: first.history.coveredThrough.seq + 1,
    last: generations.at(-1)?.stored ?? 0,
  });
  const readings: Faded['generations'] = [];
  for (const generation of generations.slice(firstSwap + 1)) {
    const now = await standingAfter(bench, conversationId, generation);
    readings.push(now ? { own: readingOf(own, now), all: readingOf(all, now) } : null);
  }
  return { strategy, file, id: recording.id, states, generations: readings };
}

const titles = [
  'conversation',
  'swaps',
  'said once',
  'after 2nd',
  '+ archive',
  'after last',
  '+ archive',
  'all',
  'after 2nd',
  'after last',
];

const shares = (reading: FadingReading | undefined): string[] =>
  reading === undefined
    ? ['-', '-']
    : [percentage(reading.held, reading.facts), percentage(reading.reachable, reading.facts)];

/** One line for all of `faded` together. */
function rowOf(title: string, faded: readonly Faded[]): string[] {
  const states = faded.flatMap((each) => each.states);
  // Only conversations that came to both ends count, so that these are the same facts.
  const ends = faded.flatMap(({ generations }) => {
    const [second, last] = [generations[0], generations.at(-1)];
    return second && last ? [{ second, last }] : [];
  });
  const sum = (pick: (end: (typeof ends)[number]) => FadingReading): FadingReading | undefined =>
    sumReadings(ends.map(pick));
  const second = sum((end) => end.second.own);
  return [
    title,
    `${states.filter((state) => state === 'COMPACTED').length}/${states.length}`,
    String(second?.facts ?? 0),
    ...shares(second),
    ...shares(sum((end) => end.last.own)),
    String(sum((end) => end.second.all)?.facts ?? 0),
    ...shares(sum((end) => end.second.all)).slice(0, 1),
    ...shares(sum((end) => end.last.all)).slice(0, 1),
  ];
}

const fading: Mode = {
  help,
  defaults: { strategies: 'ledger,gemini-cli', repeat: '10', vices: 'forgetful=0.2' },
  run: async (wanted, files) => {
    const results = await forEachRecording(wanted, files, (task) => fade(wanted, task));
    const byFile = Map.groupBy(results, ({ strategy, file }) => `${strategy} ${file}: all`);
    const strategies = Map.groupBy(results, ({ strategy }) => `${strategy}: all`);
    const rows = [
      ...results.map((each) => rowOf(`${each.strategy} ${each.id}`, [each])),
      ...[...byFile, ...strategies].map(([title, own]) => rowOf(title, own)),
    ];
    return {
      text: aligned([titles, ...rows]),
      figures: { wanted, results },
      isGood: results.some(({ generations }) => generations.some((each) => each !== null)),
    };
  },
};

await runMode(fading);
