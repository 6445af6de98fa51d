/** What one case measures: our work and a reference, in turns in the same run on the same machine. */
export interface BenchCase {
  name: string;
  unit: 'ms' | 'MiB' | 'documents' | 'tokens' | 'USD' | 'events/s' | '1/s';
  /** What the reference is, for the report. */
  referenceName: string;
  /** Whether `ours ÷ reference` is to be at most or at least `aim`. Without one it is only told. */
  aim?: Aim;
  /** How many samples of each; default 7. One is taken as it comes, without a run to warm up. */
  samples?: number;
  /** Left out of a quick run. */
  isLong?: true;
  /** One sample each, in `unit`; NaN where that could not be done, and the note says why. */
  ours: () => number | Promise<number>;
  reference: () => number | Promise<number>;
  /** What else was seen; read after the last sample. */
  note?: () => string;
}

export interface Aim {
  direction: 'atMost' | 'atLeast';
  ratio: number;
}

export const atMost = (ratio: number): Aim => ({ direction: 'atMost', ratio });
export const atLeast = (ratio: number): Aim => ({ direction: 'atLeast', ratio });

/** Cases that share what they run on. */
export interface BenchGroup {
  name: string;
  title: string;
  cases: readonly BenchCase[];
  /** Ends what its cases have opened; called once, after the last of them. */
  close?: () => Promise<void>;
}

/**
 * `within`: the median lies beyond the aim and some samples do not, so that the machine's mood may be the reason;
 * `missed`: all of them lie beyond it.
 */
export type Verdict = 'met' | 'within' | 'missed' | 'told';

export interface BenchResult {
  name: string;
  group: string;
  unit: BenchCase['unit'];
  /** Medians. */
  ours: number;
  reference: number;
  referenceName: string;
  /** Median of the ratios of the samples that were taken one after the other, the smallest and the largest. */
  ratio: number;
  spread: readonly [smallest: number, largest: number];
  aim?: Aim;
  verdict: Verdict;
  samples: number;
  note?: string;
}

const SAMPLES = 7;

export function median(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const below = sorted[Math.floor(middle)] ?? Number.NaN;
  const above = sorted[Math.ceil(middle)] ?? Number.NaN;
  return (below + above) / 2;
}

/** An aim is missed only if every sample is beyond it. */
export function verdictOf(
  aim: Aim | undefined,
  { ratio, spread }: Pick<BenchResult, 'ratio' | 'spread'>,
): Verdict {
  if (aim === undefined || Number.isNaN(ratio)) return 'told';
  const keeps = (value: number) =>
    aim.direction === 'atMost' ? value <= aim.ratio : value >= aim.ratio;
  if (keeps(ratio)) return 'met';
  return spread.some(keeps) ? 'within' : 'missed';
}

async function measureCase(
  benchCase: BenchCase,
  group: string,
  mostSamples: number,
): Promise<BenchResult> {
  const { name, unit, referenceName, aim, note } = benchCase;
  const samples = Math.min(benchCase.samples ?? SAMPLES, mostSamples);
  if (samples > 1) {
    await benchCase.ours();
    await benchCase.reference();
  }
  const ours: number[] = [];
  const reference: number[] = [];
  for (let sample = 0; sample < samples; sample++) {
    ours.push(await benchCase.ours());
    reference.push(await benchCase.reference());
  }
  const ratios = ours.map((value, sample) => value / (reference[sample] ?? Number.NaN));
  const ratio = median(ratios);
  const spread = [Math.min(...ratios), Math.max(...ratios)] as const;
  return {
    name,
    group,
    unit,
    ours: median(ours),
    reference: median(reference),
    referenceName,
    ratio,
    spread,
    ...(aim && { aim }),
    verdict: verdictOf(aim, { ratio, spread }),
    samples,
    ...(note && { note: note() }),
  };
}

/** What is told while it is measured. */
export interface BenchListener {
  started(name: string): void;
  measured(result: BenchResult): void;
  /** `isRepeated`: it had failed before, and is not tried again. */
  failed(name: string, failure: { error: unknown; isRepeated: boolean }): void;
}

/**
 * Measures one group after the other and closes what a group has opened. A case that throws is measured once more: a
 * host that was slow to start says nothing about what it runs. One that throws twice has no result.
 */
export async function measureGroups(
  groups: readonly BenchGroup[],
  { mostSamples, listener }: { mostSamples: number; listener: BenchListener },
): Promise<BenchResult[]> {
  const results: BenchResult[] = [];
  const measure = async (group: string, benchCase: BenchCase, isRepeated: boolean) => {
    listener.started(benchCase.name);
    try {
      const result = await measureCase(benchCase, group, mostSamples);
      listener.measured(result);
      results.push(result);
    } catch (error) {
      listener.failed(benchCase.name, { error, isRepeated });
      if (!isRepeated) await measure(group, benchCase, true);
    }
  };
  for (const { name, cases, close } of groups) {
    try {
      for (const each of cases) await measure(name, each, false);
    } finally {
      await close?.();
    }
  }
  return results;
}
