import type { CompactionJob } from '#shared/conversation/documents/job.ts';

/** Why no model may be asked for anybody until the day turns: the limits in dollars that a compaction counts into. */
export type UnpaidReason = 'USER_DAILY_USD' | 'GLOBAL_BUDGET';

export const waitsForBudget = (reason: string | undefined): reason is UnpaidReason =>
  reason === 'USER_DAILY_USD' || reason === 'GLOBAL_BUDGET';

/** Whether a request waits because the dollars of the day were used up when it was served last. */
export function holdsBackForBudget(
  job: Pick<CompactionJob, 'records'> | undefined,
  { requestId }: { requestId: string },
): boolean {
  const last = job?.records.at(-1);
  return last?.requestId === requestId && last.state === 'NOOP' && waitsForBudget(last.reason);
}
