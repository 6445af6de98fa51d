import type { Bench } from '../bench.ts';
import { judgeRedelivery } from '../compaction-verdicts.ts';
import type { Verdict } from '../finding.ts';
import { endedCompaction, countSwaps, talkOverThreshold } from './compacting.ts';

const DELIVERIES = 3;

/** Delivers the event of a compaction three times more. */
export async function redeliver(bench: Bench): Promise<Verdict> {
  await talkOverThreshold(bench);
  const { jobId } = await endedCompaction(bench);
  const { statuses } = await bench.supervisor.redeliver({
    conversationId: bench.id,
    requestId: jobId,
    times: DELIVERIES,
  });
  const { compactions } = await bench.api.compactions();
  return judgeRedelivery({
    codes: statuses,
    swaps: countSwaps(compactions.filter((record) => record.jobId === jobId)),
  });
}
