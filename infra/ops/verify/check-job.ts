import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import { isSwap } from './check-histories.ts';
import { finding, findingWhen, type Finding } from './finding.ts';
import type { Loaded, StoredHistory } from './load/loaded.ts';

/** As long as a configured lease may be. */
const LONGEST_LEASE_MS = 560_000;

type Work = Pick<Loaded, 'conversationId' | 'now' | 'job' | 'histories'>;

/** Records of swaps against the histories that they made. */
function checkRecords(
  path: string,
  { records }: CompactionJob,
  histories: readonly StoredHistory[],
): Finding[] {
  const made = new Map(histories.map((history) => [history.fields.generation, history]));
  const told = new Set<number>();
  return records.flatMap(({ generation, requestId, state }) => {
    if (generation === undefined) return [];
    const isTwice = told.has(generation);
    told.add(generation);
    const history = made.get(generation);
    return [
      ...findingWhen(isTwice, 'swapped-twice', path, `two records made generation ${generation}`),
      ...findingWhen(
        history === undefined,
        'record-astray',
        path,
        `a record ${state} made generation ${generation}, which is not there`,
      ),
      ...findingWhen(
        history !== undefined && history.fields.requestId !== requestId,
        'record-astray',
        path,
        `generation ${generation} was made by another request than its record says`,
      ),
    ];
  });
}

/** I4: nobody swaps without a lease of its own. */
export function checkJob({ conversationId, now, job, histories }: Work): Finding[] {
  const path = compactionJobPath(conversationId);
  const swaps = histories.filter(isSwap).length;
  if (!job)
    return swaps > 0
      ? [finding('job-missing', path, `${swaps} swaps were made, and there is no job`)]
      : [];
  const leaseMs = job.leaseUntil.getTime() - now.getTime();
  return [
    ...findingWhen(
      job.owner !== '' && leaseMs > LONGEST_LEASE_MS,
      'lease-too-long',
      path,
      `the lease ends in ${Math.round(leaseMs / 1_000)} s`,
    ),
    ...findingWhen(
      job.fence < swaps || (job.owner !== '' && job.fence === 0),
      'fence-behind',
      path,
      `the fence is ${job.fence} after ${swaps} swaps`,
    ),
    ...checkRecords(path, job, histories),
  ];
}
