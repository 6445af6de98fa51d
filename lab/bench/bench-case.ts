/** Whether `ours / reference` is to be at most or at least `aim`. */
export interface Aim {
  direction: 'atMost' | 'atLeast';
  aim: number;
}

/** One measurement, in the unit of its case. */
type Sample = () => number | Promise<number>;

type Unit =
  | 'ms'
  | 'MB/s'
  | 'MiB'
  | 'KiB'
  | 'bytes'
  | 'documents'
  | 'conversations'
  | 'tokens'
  | 'USD'
  | 'events/s'
  | '1/s';

/** Where a figure stands in a picture of lines. */
interface Point {
  /** Which line. */
  line: string;
  at: number;
}

/** What one case measures: our work and a reference, in the same run on the same machine; perhaps with an aim. */
export interface BenchCase extends Partial<Aim> {
  name: string;
  unit: Unit;
  /** What the reference is, for the report. */
  referenceName: string;
  /** How many samples of each; default 7. One is taken as it comes, without a run to warm up. */
  samples?: number;
  /** Left out of a quick run. */
  isLong?: true;
  /** Of the reference, in a group with lines. */
  point?: Point;
  /** One sample each, in `unit`; NaN where that could not be done, and the note says why. They are taken in turns, so that noise falls on both. */
  ours: Sample;
  reference: Sample;
  /** What the framework and the SDKs take for the same, without anything of ours: where the limit is. */
  sdksAlone?: Sample;
  /** For comparison by eye: a published or earlier figure, or what else was seen; read after the last sample. */
  note?: string | (() => string);
}

/** Cases that stand in one picture, and perhaps share what they run on. */
export interface BenchGroup {
  /** Names the picture: lower-case letters and hyphens. */
  name: string;
  title: string;
  cases: readonly BenchCase[];
  /** Draws the points of its cases as lines; what they stand at. Without it each case is a bar. */
  lines?: { at: string };
  /** Ends what its cases have opened; called once, after the last of them. */
  close?: () => Promise<void>;
}

export interface BenchResult extends Partial<Aim> {
  name: string;
  group: string;
  unit: Unit;
  /** Medians. */
  ours: number;
  reference: number;
  referenceName: string;
  ratio: number;
  /** Only with an aim. */
  met?: boolean;
  samples: number;
  /** (largest − smallest) ÷ median of our samples. */
  spread: number;
  /** Median of what framework and SDKs take alone, and its ratio to the reference. */
  alone?: { value: number; ratio: number };
  note?: string;
  point?: Point;
}
