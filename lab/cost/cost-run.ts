import type { Operations } from './cloud-prices.ts';
import type { Bill } from './folds/fold-cost.ts';
import type { Shape } from './shape.ts';
import type { Point } from './strategies.ts';

/** Totals side by side, in US dollars for a thousand turns. */
export interface Totals {
  naive: number;
  geminiCli: number;
  usual: number;
  optimum: number;
}

/** A point of the grid with its total. */
export type PricedPoint = Point & { total: number };

/** All that was computed for one conversation. */
export interface ShapeRun extends Shape {
  /** Of a snapshot at the defaults. */
  snapshotTokens: number;
  /** What the service does by itself. */
  usual: Point;
  bills: {
    naive: Bill;
    geminiCli: Bill;
    /** At its defaults. */
    recap: Bill;
    /** At the best of the points. */
    recapCheapest: Bill;
    /** With the tail of the default. */
    optimum: Bill;
  };
  best: PricedPoint;
  points: readonly PricedPoint[];
  /** By share of prompts that hit the cache; with the tail of the default over all thresholds. */
  hits: (Totals & { hitFraction: number; points: readonly PricedPoint[] })[];
  models: (Totals & { model: string })[];
}

/** All that was computed. */
export interface CostRun {
  model: string;
  /** Prompts that share fewer tokens with the one before are not served from its cache. */
  cacheFromTokens: number;
  hitFraction: number;
  overheadTokens: number;
  messageTokens: number;
  answerTokens: number;
  operations: { turn: Operations; compaction: Operations };
  /** Of the summariser: system instruction and schema. */
  instructionTokens: number;
  /** The chat comes first. */
  shapes: readonly ShapeRun[];
}
