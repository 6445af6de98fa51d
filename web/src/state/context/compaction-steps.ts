import type { CompactionStatus } from '#shared/wire/views/context-object.ts';

/** A state that this page saw a compaction in. */
export interface CompactionStep {
  jobId: string;
  state: string;
  /** Milliseconds since 1970, by the clock of the page. */
  at: number;
  trigger?: string | undefined;
  message?: string | undefined;
}

/** Steps that are kept: some compactions' worth. */
const STEPS_MAX = 60;

const OPEN_STATES: ReadonlySet<string> = new Set(['QUEUED', 'RUNNING', 'VERIFYING']);

/** Whether a compaction waits or runs. */
export const isUnderWay = (status: CompactionStatus | null | undefined): boolean =>
  status !== null && status !== undefined && OPEN_STATES.has(status.state);

/** The steps seen so far, with one more where the state is a new one. */
export function observeStatus(
  steps: readonly CompactionStep[],
  status: CompactionStatus | null | undefined,
  at: number,
): readonly CompactionStep[] {
  if (!status?.jobId) return steps;
  const { jobId, state, trigger, message } = status;
  const known = steps.findLast((step) => step.jobId === jobId);
  if (known?.state === state) return steps;
  // What had ended before the page came is told by the list of compactions.
  if (!known && !isUnderWay(status)) return steps;
  return [...steps, { jobId, state, at, trigger: trigger ?? known?.trigger, message }].slice(
    -STEPS_MAX,
  );
}
