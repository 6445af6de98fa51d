import type { BenchGroup } from './bench-case.ts';
import { coldGroup } from './cases/cold-start.ts';
import { engineCases } from './cases/engine-size.ts';
import { estimateCases } from './cases/estimate-throughput.ts';
import { loadGroup } from './cases/queue-load.ts';
import { planCases } from './cases/plan-size.ts';
import { recallGroup } from './cases/recall-cost.ts';
import { streamGroup } from './cases/stream-load.ts';
import { turnGroup } from './cases/turn-cost.ts';
import { usageGroup } from './cases/usage-cost.ts';
import { workerGroup } from './cases/worker-load.ts';

/** Everything that is measured, in the order of the report. */
export const benchGroups = (): BenchGroup[] => [
  turnGroup(),
  usageGroup(),
  recallGroup(),
  streamGroup(),
  workerGroup(),
  loadGroup(),
  { name: 'estimate', title: 'Estimating tokens', cases: estimateCases() },
  { name: 'plan', title: 'Planning a compaction', cases: planCases() },
  { name: 'engine', title: 'Checking and rendering a snapshot', cases: engineCases() },
  coldGroup(),
];
