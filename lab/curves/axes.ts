import type { Strategy } from '../eval/eval-mode-arguments.ts';
import type { Vices } from '#infra/fake-gemini/server/misbehaviour.ts';

/** What a compaction is given at one point of a curve. */
export interface PointSettings {
  strategy: Strategy;
  /** Absent: what follows from the threshold. */
  snapshotTokens?: number;
  /** Absent: the policy's. */
  thresholdTokens?: number;
  vices: Vices;
  /** Compactions of the growing conversation. */
  repeat: number;
}

export interface Axis {
  name: string;
  /** What stands below the axis. */
  title: string;
  scale: 'linear' | 'log';
  values: readonly number[];
  at(value: number): Partial<Omit<PointSettings, 'strategy'>>;
}

/** A summariser that leaves out three statements of ten: what checks and repairs are for. */
const usual = { snapshotTokens: 1_500, vices: { forgetful: 0.3 }, repeat: 1 };

export const axes: readonly Axis[] = [
  {
    name: 'budget',
    title: 'snapshot, tokens',
    scale: 'log',
    values: [250, 500, 1_000, 1_500, 2_500, 4_000],
    at: (snapshotTokens) => ({ snapshotTokens }),
  },
  {
    name: 'threshold',
    title: 'threshold, tokens',
    scale: 'log',
    values: [6_000, 12_000, 24_000, 48_000, 96_000],
    at: (thresholdTokens) => ({ snapshotTokens: undefined, thresholdTokens }),
  },
  {
    name: 'forgetful',
    title: 'share of statements that the summariser leaves out',
    scale: 'linear',
    values: [0, 0.2, 0.4, 0.6, 0.8, 1],
    at: (forgetful) => ({ vices: { forgetful } }),
  },
  {
    name: 'inventive',
    title: 'share of numbers that the summariser alters',
    scale: 'linear',
    values: [0, 0.1, 0.3, 1],
    at: (inventive) => ({ vices: { inventive } }),
  },
  {
    name: 'compactions',
    title: 'compactions while the conversation grows',
    scale: 'log',
    values: [1, 2, 4, 8],
    at: (repeat) => ({ repeat }),
  },
];

/** The settings of each point of an axis, strategy by strategy. */
export const pointsOf = (
  axis: Axis,
  strategies: readonly Strategy[],
): { value: number; settings: PointSettings }[] =>
  strategies.flatMap((strategy) =>
    axis.values.map((value) => {
      const { snapshotTokens, ...rest } = { ...usual, ...axis.at(value), strategy };
      return {
        value,
        settings: { ...rest, ...(snapshotTokens !== undefined && { snapshotTokens }) },
      };
    }),
  );
