import { isUnpaid, type OutcomeState } from '#shared/compaction/outcome.ts';
import type { ContextSource } from '#shared/conversation/context/assemble-context.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { AppError } from '#shared/errors.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';

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

/** An outcome that changed nothing, with the figures of the context as it stays. */
export const unchanged = (
  tokens: number,
  outcome: Pick<Outcome, 'state'> & Partial<Outcome>,
): Outcome => ({
  beforeTokens: tokens,
  afterTokens: tokens,
  turnsFolded: 0,
  isRetryable: false,
  ...outcome,
});

/** Why an attempt was stopped from outside; the reason of its abort signal. */
export class StoppedError extends AppError {
  readonly state: Extract<OutcomeState, 'ABORTED' | 'SUPERSEDED'>;

  constructor(stop: { state: StoppedError['state']; reason: string; cause?: unknown }) {
    super({
      status: 'ABORTED',
      reason: stop.reason,
      message: `the compaction was stopped: ${stop.reason}`,
      publicMessage: 'The compaction was stopped.',
      retryable: true,
      cause: stop.cause,
    });
    this.state = stop.state;
  }
}

/**
 * The outcome that an error means. Dollars that are used up are no failure: the request waits. An error after the
 * signal fired is that stop's echo. What is no AppError is a defect: recorded and not tried again.
 */
export function outcomeOfError(error: unknown, signal: AbortSignal, tokens: number): Outcome {
  const cause: unknown = signal.aborted ? signal.reason : error;
  if (cause instanceof StoppedError)
    return unchanged(tokens, { state: cause.state, reason: cause.reason, isRetryable: true });
  if (signal.aborted)
    return unchanged(tokens, { state: 'ABORTED', reason: 'CANCELLED', isRetryable: true });
  if (cause instanceof AppError && isUnpaid(cause.reason))
    return unchanged(tokens, {
      state: 'NOOP',
      reason: cause.reason,
      retryAfterMs: cause.retryAfterMs,
    });
  if (cause instanceof AppError)
    return unchanged(tokens, {
      state: 'FAILED_ERROR',
      reason: cause.reason,
      // What whoever runs the service must mend is told at once; the next crossing tries again.
      isRetryable: cause.retryable && cause.status !== 'INTERNAL',
      retryAfterMs: cause.retryAfterMs,
    });
  return unchanged(tokens, { state: 'FAILED_ERROR', reason: 'INTERNAL' });
}
