/** What one case measures: our work and a reference, in the same run on the same machine. */
export interface BenchCase {
  name: string;
  unit: 'ms' | 'MB/s';
  /** What the reference is, for the report. */
  referenceName: string;
  /** Whether `ours / reference` is to be at most or at least `aim`. */
  direction: 'atMost' | 'atLeast';
  aim: number;
  /** How many samples of each; default 7. One is taken as it comes, without a run to warm up. */
  samples?: number;
  /** One sample each, in `unit`. They are taken in turns, so that noise falls on both. */
  ours: () => number;
  reference: () => number;
  /** A published or earlier figure, for comparison by eye. */
  note?: string;
}

export interface BenchResult {
  name: string;
  unit: BenchCase['unit'];
  /** Medians. */
  ours: number;
  reference: number;
  referenceName: string;
  ratio: number;
  direction: BenchCase['direction'];
  aim: number;
  met: boolean;
  samples: number;
  /** (largest − smallest) ÷ median of our samples. */
  spread: number;
  note?: string;
}
