import type { Head } from '../conversation/head.ts';
import type { CompactionJob, CompactionRecord } from '../conversation/job.ts';

/** Where a compaction of the conversation stands; `message` is ready to be shown to a person. */
export type CompactionStatus = {
  state: string;
  jobId?: string;
  trigger?: string;
  beforeTokens?: number;
  afterTokens?: number;
  coveredThrough?: number;
  /** RFC 3339. */
  at?: string;
  reason?: string;
  message?: string;
};

/**
 * How an app learns of its context: the same object in the stream, in `GET {c}`, in the status document
 * and in events.
 */
export type ContextObject = {
  tokens: number;
  /** null: automatic compaction is off. */
  thresholdTokens: number | null;
  windowTokens: number;
  /** 0–100 of the window, one decimal. */
  percent: number;
  source: 'reported' | 'counted' | 'estimated';
  generation: number;
  compaction: CompactionStatus | null;
};

export interface ContextObjectSource {
  head: Pick<Head, 'generation' | 'coveredThrough' | 'compactionNeeded'>;
  tokens: number;
  tokensSource: ContextObject['source'];
  thresholdTokens: number | null;
  windowTokens: number;
  job: CompactionJob | undefined;
  now: Date;
  /** Turns a state into the sentence for a person, in the caller's language. */
  message: (
    record: Pick<CompactionRecord, 'state' | 'beforeTokens' | 'afterTokens' | 'reason'>,
  ) => string;
}

const isHeld = (job: CompactionJob | undefined, now: Date) =>
  job !== undefined && job.owner !== '' && job.leaseUntil > now;

function compactionStatus(source: ContextObjectSource): CompactionStatus | null {
  const { head, job, now } = source;
  const figures = { beforeTokens: source.tokens, afterTokens: source.tokens };
  if (job && isHeld(job, now)) {
    const state = job.step === 'verify' ? 'VERIFYING' : 'RUNNING';
    return { state, jobId: job.requestId, message: source.message({ state, ...figures }) };
  }
  const need = head.compactionNeeded.manual ?? head.compactionNeeded.auto;
  if (need)
    return {
      state: 'QUEUED',
      jobId: need.requestId,
      trigger: 'trigger' in need ? need.trigger : 'manual',
      at: need.since.toISOString(),
      message: source.message({ state: 'QUEUED', ...figures }),
    };
  const last = job?.records.at(-1);
  if (!last) return null;
  return {
    state: last.state,
    jobId: last.requestId,
    trigger: last.trigger,
    beforeTokens: last.beforeTokens,
    afterTokens: last.afterTokens,
    coveredThrough: head.coveredThrough.seq,
    at: last.finishedAt.toISOString(),
    ...(last.reason !== undefined && { reason: last.reason }),
    message: source.message(last),
  };
}

/** The context object of a head, its job and the present figures. */
export function contextObject(source: ContextObjectSource): ContextObject {
  return {
    tokens: source.tokens,
    thresholdTokens: source.thresholdTokens,
    windowTokens: source.windowTokens,
    percent: Math.round((1_000 * source.tokens) / source.windowTokens) / 10,
    source: source.tokensSource,
    generation: source.head.generation,
    compaction: compactionStatus(source),
  };
}
