import { waitsForMoney } from '../compaction/unpaid.ts';
import type { RecalledView } from './recalled-view.ts';
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
  /** At the end of a turn: what was brought back of folded turns for its message; absent: nothing. */
  recalled?: RecalledView;
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
  if (need) {
    const waits = waitsForMoney(job, need) ? { reason: job?.records.at(-1)?.reason } : {};
    return {
      state: 'QUEUED',
      jobId: need.requestId,
      trigger: 'trigger' in need ? need.trigger : 'manual',
      at: need.since.toISOString(),
      ...(waits.reason !== undefined && { reason: waits.reason }),
      message: source.message({ state: 'QUEUED', ...figures, ...waits }),
    };
  }
  const last = job?.records.at(-1);
  if (!last) return null;
  return recordStatus(last, { coveredThrough: head.coveredThrough, message: source.message(last) });
}

/** The status that one attempt at a compaction leaves, or has while it works. */
export function recordStatus(
  record: Pick<
    CompactionRecord,
    'state' | 'requestId' | 'trigger' | 'beforeTokens' | 'afterTokens' | 'finishedAt' | 'reason'
  >,
  present: { coveredThrough: Head['coveredThrough']; message: string },
): CompactionStatus {
  return {
    state: record.state,
    jobId: record.requestId,
    trigger: record.trigger,
    beforeTokens: record.beforeTokens,
    afterTokens: record.afterTokens,
    coveredThrough: present.coveredThrough.seq,
    at: record.finishedAt.toISOString(),
    ...(record.reason !== undefined && { reason: record.reason }),
    message: present.message,
  };
}

/** The context object of the present figures and of what is known of the compaction. */
export function contextFigures(
  figures: Pick<
    ContextObjectSource,
    'tokens' | 'tokensSource' | 'thresholdTokens' | 'windowTokens'
  > & { generation: number },
  compaction: CompactionStatus | null,
): ContextObject {
  return {
    tokens: figures.tokens,
    thresholdTokens: figures.thresholdTokens,
    windowTokens: figures.windowTokens,
    percent: Math.round((1_000 * figures.tokens) / figures.windowTokens) / 10,
    source: figures.tokensSource,
    generation: figures.generation,
    compaction,
  };
}

/** The context object of a head, its job and the present figures. */
export const contextObject = (source: ContextObjectSource): ContextObject =>
  contextFigures({ ...source, generation: source.head.generation }, compactionStatus(source));
