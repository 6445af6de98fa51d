import {
  modelThatLimits,
  recallTokens,
  selectSummariser,
} from '#functions/config/conversation-policy.ts';
import { selectOutputForms } from '#functions/context/next-call.ts';
import { loadIndex } from '#functions/recall/read-index.ts';
import type { WorkerDependencies } from '#functions/worker/worker-dependencies.ts';
import type { BrakeReason } from '#shared/compaction/brake.ts';
import { isUnpaid, type OutcomeState } from '#shared/compaction/outcome.ts';
import type { CompactionRequest } from '#shared/compaction/request-decisions.ts';
import type { CompactionWork } from '#shared/compaction/work.ts';
import type { ContextSource } from '#shared/conversation/context/assemble-context.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import { StoppedError, type JobLease } from './job-lease.ts';
import type { Reading } from './reading.ts';

/** What the model calls of one attempt cost; rises as they are made. */
interface Bill {
  calls: number;
  promptTokens: number;
  /** Thoughts included. */
  outputTokens: number;
  /** Millionths of a US dollar; undefined once a call was made that reported nothing. */
  costMicros: number | undefined;
  /** Whether a call has been made, or begun, that counts this run among the compactions of its owner's day. */
  isCounted?: true;
  /** The model that answered; absent before the first answer. */
  model?: string;
}

/** One attempt at one request, from the claim to the settlement; without a lease, one that ends without work. */
export interface Run {
  dependencies: WorkerDependencies;
  reading: Reading;
  request: CompactionRequest;
  /** Counts from 1. */
  attempt: number;
  /** Why no model may be asked; undefined: one may. */
  noModelReason: BrakeReason | undefined;
  startTime: Date;
  bill: Bill;
  lease?: JobLease;
  /** Fires when the delivery is to end. */
  delivery: AbortSignal;
  /** Fires when the delivery is to end, or the lease is lost. */
  signal: AbortSignal;
  /** What PreCompact hooks tell the summariser, as data. */
  notes?: readonly string[];
}

/** A run that holds the lease. */
export interface ClaimedRun extends Run {
  lease: JobLease;
}

/** What a bill comes to, where calls were made and all of them reported what they took. */
export const billedCost = ({ calls, costMicros }: Bill): { costMicros?: number } =>
  calls === 0 || costMicros === undefined ? {} : { costMicros: Math.round(costMicros) };

/** The context as it was read; compaction counts and folds by the same function as chat sends. */
export const runContext = ({
  reading: { conversation, history, coveredThrough, turns, memory },
  dependencies: { config, serverTools },
}: Pick<Run, 'reading' | 'dependencies'>): ContextSource => ({
  model: modelThatLimits(config, conversation.value.model),
  systemInstruction: conversation.value.systemInstruction,
  serverInstruction: conversation.value.serverInstruction,
  toolsJson: conversation.value.toolsJson,
  serverTools,
  memory: memory.before,
  pins: conversation.value.pins,
  history,
  coveredThrough,
  turns,
});

/**
 * What tools said in the earlier turns that the folded ones brought back, a text for each turn: the model may have
 * repeated it. From the index of recall, where its words came from. No read where nothing was brought back. Throws
 * StoreUnavailableError.
 */
async function recalledTools(
  { dependencies, reading }: Pick<Run, 'dependencies' | 'reading'>,
  folded: readonly Turn[],
): Promise<string[]> {
  const seqs = new Set(folded.flatMap(({ recalled }) => recalled?.seqs ?? []));
  if (seqs.size === 0) return [];
  const { conversationId, conversation } = reading;
  const { segments } = await loadIndex(dependencies, {
    conversationId,
    conversation: conversation.value,
  });
  const passages = segments
    .flatMap((segment) => segment.passages)
    .filter(({ seq, role }) => role === 'tool' && seqs.has(seq));
  const bySeq = Map.groupBy(passages, ({ seq }) => seq);
  return [...bySeq.values()].map((each) => each.map(({ text }) => text).join('\n'));
}

/** What the run does to the context that it has read, as the engine of compaction sees it. */
export function toWork(run: Run): CompactionWork {
  const { dependencies, reading, request, notes } = run;
  const conversation = reading.conversation.value;
  const { calibration, overheadTokens } = conversation.context;
  return {
    context: runContext(run),
    policy: reading.policy,
    trigger: request.trigger,
    calibration,
    overheadTokens,
    forms: selectOutputForms(dependencies, conversation),
    profile: conversation.profile,
    previous: reading.history,
    focus: request.focus,
    notes,
    isSearched: recallTokens(dependencies.config, conversation) > 0,
    recalledTools: (folded) => recalledTools(run, folded),
  };
}

/** Model and window of the run's summariser. */
export const summariserOfRun = ({ dependencies, reading }: Run) =>
  selectSummariser(dependencies.config, {
    model: reading.conversation.value.model,
    windowTokens: reading.policy.windowTokens,
  });

export const elapsedMs = (run: Pick<Run, 'dependencies' | 'startTime'>): number =>
  Math.max(0, run.dependencies.clock.now().getTime() - run.startTime.getTime());

/**
 * What one attempt did. `beforeTokens` and `afterTokens` are of the whole prompt, by the same counter: what the context
 * is with the snapshot, or would have been. Where nobody counted, both are the context's as it was read.
 */
export interface Outcome {
  state: OutcomeState;
  reason?: string | undefined;
  beforeTokens: number;
  afterTokens: number;
  /** Of a swap: who counted both. */
  tokensSource?: ContextObject['source'];
  /** Of a swap: the context that it made. */
  after?: ContextSource;
  turnsFolded: number;
  /** The generation that it made. */
  generation?: number;
  coveredThrough?: { seq: number; contentIndex: number };
  model?: string;
  /** Who wrote the snapshot. */
  strategy?: History['strategy'];
  /** Of a search for what a filter blocks: names what stood in every prompt. */
  searchedPrefix?: string | undefined;
  /** Turns that came while it was under way; undefined where nobody looked. */
  turnsArrived?: number;
  isRetryable: boolean;
  retryAfterMs?: number | undefined;
}

/** Whether the attempt has put a generation into use: then its record stands in the batch of the swap. */
export const hasSwapped = (outcome: Outcome): boolean => outcome.generation !== undefined;

/** How a run stands or ended that has not put a generation into use: the figures are those of the context as it stays. */
export const withoutSwap = (
  tokens: number,
  outcome: Pick<Outcome, 'state'> & Partial<Outcome>,
): Outcome => ({
  beforeTokens: tokens,
  afterTokens: tokens,
  turnsFolded: 0,
  isRetryable: false,
  ...outcome,
});

/** Ends an attempt with its outcome before its last step. */
export class AttemptEnded extends Error {
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(`the attempt ended: ${outcome.state} ${outcome.reason ?? ''}`);
    this.outcome = outcome;
  }
}

/** How long a request waits that lost to other writers at every try. */
export const CONTENDED_RETRY_MS = 1_000;

/**
 * The outcome that an error means. Dollars that are used up are no failure: the request waits. Once the signal has fired,
 * its reason counts, whatever was thrown. What is neither AttemptEnded nor AppError is a defect: recorded and not tried again.
 */
export function outcomeOfError(error: unknown, signal: AbortSignal, tokens: number): Outcome {
  if (error instanceof AttemptEnded) return error.outcome;
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (cause instanceof StoppedError)
    return withoutSwap(tokens, { state: cause.state, reason: cause.reason, isRetryable: true });
  if (signal.aborted)
    return withoutSwap(tokens, { state: 'ABORTED', reason: 'CANCELLED', isRetryable: true });
  if (cause instanceof AppError && isUnpaid(cause.reason))
    return withoutSwap(tokens, {
      state: 'NOOP',
      reason: cause.reason,
      retryAfterMs: cause.retryAfterMs,
    });
  if (cause instanceof AppError)
    return withoutSwap(tokens, {
      state: 'FAILED_ERROR',
      reason: cause.reason,
      // What whoever runs the service must mend is told at once; the next crossing tries again.
      isRetryable: cause.retryable && cause.status !== 'INTERNAL',
      retryAfterMs: cause.retryAfterMs,
    });
  return withoutSwap(tokens, { state: 'FAILED_ERROR', reason: 'INTERNAL' });
}
