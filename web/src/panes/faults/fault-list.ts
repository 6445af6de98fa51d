import { LEAST_THRESHOLD_TOKENS } from '#web/state/context/compaction-steps.ts';
import type { Bench } from './bench.ts';
import type { FaultName, Verdict } from './finding.ts';
import { killWorker, lowerThreshold, redeliver } from './scenarios/compactions.ts';
import { dropStream, killChat } from './scenarios/interruptions.ts';
import { blockAnswer, refuseTwice } from './scenarios/refusals.ts';
import { resend } from './scenarios/resend.ts';
import { inventiveSummary } from './scenarios/summaries.ts';

interface Fault {
  run: (bench: Bench) => Promise<Verdict>;
  /** Threshold of its conversation; absent: as deployed. */
  thresholdTokens?: number;
  /** Which process it kills. */
  kills?: 'chat' | 'compaction';
  /** The model does it: only the fake Gemini takes such orders. */
  isOfModel?: true;
}

const compacting = { thresholdTokens: LEAST_THRESHOLD_TOKENS };

export const faults: Readonly<Record<FaultName, Fault>> = {
  drop: { run: dropStream },
  resend: { run: resend },
  killChat: { run: killChat, kills: 'chat' },
  killWorker: { run: killWorker, kills: 'compaction', ...compacting },
  quota: { run: (bench) => refuseTwice(bench, 'quota'), isOfModel: true },
  unavailable: { run: (bench) => refuseTwice(bench, 'unavailable'), isOfModel: true },
  safety: { run: blockAnswer, isOfModel: true },
  redeliver: { run: redeliver, ...compacting },
  inventive: { run: inventiveSummary, isOfModel: true, ...compacting },
  threshold: { run: lowerThreshold },
};

/** In the order of the panel. */
export const faultNames = Object.keys(faults).filter((name): name is FaultName => name in faults);
