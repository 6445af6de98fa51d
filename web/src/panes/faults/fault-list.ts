import type { Bench } from './bench.ts';
import type { FaultName, Verdict } from './finding.ts';
import { dropStream } from './scenarios/drop.ts';
import { killChat } from './scenarios/kill-chat.ts';
import { killWorker } from './scenarios/kill-worker.ts';
import { lowerThreshold } from './scenarios/lower-threshold.ts';
import { redeliver } from './scenarios/redeliver.ts';
import { blockAnswer, refuseTwice } from './scenarios/refusals.ts';
import { resend } from './scenarios/resend.ts';
import { forgetfulSummary, inventiveSummary } from './scenarios/summaries.ts';
import { LAB_THRESHOLD_TOKENS } from './scenarios/compacting.ts';

export interface Fault {
  run: (bench: Bench) => Promise<Verdict>;
  /** Threshold of its conversation; absent: as deployed. */
  thresholdTokens?: number;
  /** Which process it kills. */
  kills?: 'chat' | 'compaction';
}

const compacting = { thresholdTokens: LAB_THRESHOLD_TOKENS };

export const faults: Readonly<Record<FaultName, Fault>> = {
  drop: { run: dropStream },
  resend: { run: resend },
  killChat: { run: killChat, kills: 'chat' },
  killWorker: { run: killWorker, kills: 'compaction', ...compacting },
  quota: { run: (bench) => refuseTwice(bench, 'quota') },
  unavailable: { run: (bench) => refuseTwice(bench, 'unavailable') },
  safety: { run: blockAnswer },
  redeliver: { run: redeliver, ...compacting },
  forgetful: { run: forgetfulSummary, ...compacting },
  inventive: { run: inventiveSummary, ...compacting },
  threshold: { run: lowerThreshold },
};

/** In the order of the panel. */
export const faultNames: readonly FaultName[] = [
  'drop',
  'resend',
  'killChat',
  'killWorker',
  'quota',
  'unavailable',
  'safety',
  'redeliver',
  'forgetful',
  'inventive',
  'threshold',
];
