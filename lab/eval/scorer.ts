import { ArgumentError, parseGiven } from '#infra/command-line.ts';
import { aligned } from '#infra/text-table.ts';
import type { CompactingMethod, CompactionSettings, EvalSettings } from './eval-settings.ts';
import { parseRecordings, type Recording } from './replay/recording.ts';
import { startEvalBench, type BenchSettings, type EvalBench } from './compact/bench.ts';

/** A data file that is there. */
export interface DataFile {
  /** Without folder and ending. */
  name: string;
  path: string;
  text: string;
}

interface Scored {
  /** For people. */
  text: string;
  /** For `--json`; undefined: there are none yet. */
  figures: object | undefined;
  /** Whether what must hold holds; the exit code tells. */
  isGood: boolean;
}

const isCell = (value: unknown): value is string | number =>
  typeof value === 'string' || typeof value === 'number';

/** Figures for people: a line each, and a column for every field that is a text or a number. */
export function tableOf(figures: readonly object[]): string {
  const rows = figures.map((each) => new Map(Object.entries(each)));
  const titles = [
    ...new Set(
      rows.flatMap((row) => [...row].flatMap(([key, value]) => (isCell(value) ? [key] : []))),
    ),
  ];
  const cellOf = (value: unknown): string => {
    if (typeof value === 'number') return String(Number(value.toFixed(3)));
    return typeof value === 'string' ? value : '-';
  };
  const isText = (title: string) => rows.some((row) => typeof row.get(title) === 'string');
  return aligned(
    [titles, ...rows.map((row) => titles.map((title) => cellOf(row.get(title))))],
    [...titles.keys()].filter((column) => isText(titles[column] ?? '')),
  );
}

/** What `--score` names. Throws ArgumentError. */
export type Scorer = (settings: EvalSettings, files: readonly DataFile[]) => Promise<Scored>;

/** The wanted recordings of all files. Throws ArgumentError, also for an id that is in none of them. */
export function wantedRecordings(
  { ids, limit }: Pick<EvalSettings, 'ids' | 'limit'>,
  files: readonly DataFile[],
): Recording[] {
  const recordings = files.map((file) => parseGiven(file, parseRecordings));
  const known = recordings.flat().map(({ id }) => id);
  const unknown = ids.filter((id) => !known.includes(id));
  if (unknown.length > 0)
    throw new ArgumentError(
      `no conversation is called ${unknown.join(', ')}; there are ${known.join(', ')}`,
    );
  return recordings.flatMap((each) =>
    each.filter(({ id }) => ids.length === 0 || ids.includes(id)).slice(0, limit),
  );
}

/** Runs `work` with the worker that compacts as the method says. */
export async function onBench<Result>(
  { model, answers }: Pick<EvalSettings, 'model' | 'answers'>,
  method: CompactingMethod,
  work: (bench: EvalBench) => Promise<Result>,
  vices?: BenchSettings['vices'],
): Promise<Result> {
  const bench = await startEvalBench({
    strategy: method === 'recap' ? 'ledger' : method,
    model,
    ...(answers && { answers }),
    ...(vices && { vices }),
  });
  try {
    return await work(bench);
  } finally {
    await bench.stop();
  }
}

/** The methods that compact, each with its settings: gemini-cli may have a size of its own. */
export const compactingMethods = (
  settings: EvalSettings,
): { method: CompactingMethod; compaction: CompactionSettings }[] =>
  settings.methods
    .filter((method) => method !== 'whole')
    .map((method) => {
      const own = method === 'gemini-cli' ? settings.geminiCliTokens : undefined;
      return {
        method,
        compaction: { ...settings, snapshotTokens: own ?? settings.snapshotTokens },
      };
    });
