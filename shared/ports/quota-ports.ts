import type { Caller, ModelUsage, Write } from './ports.ts';

/** What the first call of a turn is about to take of its user's quota. */
export interface QuotaRequest {
  caller: Caller;
  /** With the message id and the attempt it names what is reserved: asked again, it is reserved once. */
  conversationId: string;
  messageId: string;
  /** Counts from 1. */
  attempt: number;
  model: string;
  /** Tokens of the prompt. */
  estimatedTokens: number;
  /** A call that chooses the model may be made before; it is paid for out of what is reserved. */
  isRouted?: boolean;
  /** The message was counted when its turn began to wait for the app. */
  isCounted?: boolean;
  /** Messages of the conversation whose turns nobody answers any more: what they hold is given back. */
  abandoned?: readonly string[];
}

/** What calls of the model took. */
export interface QuotaSpending {
  /** What the model reported; absent: nothing. */
  usage?: ModelUsage | undefined;
  /** Millionths of a US dollar; absent where no model reported what it took. */
  costMicros?: number | undefined;
  /** Whether the user got an answer for it, or a part of one that waits for the app: once a message. */
  isMessage: boolean;
  /** A call may be billed and reported nothing: what the newest one was estimated at is spent, too. */
  isUnreported?: boolean;
  /** What the choice of the model took. */
  routing?: { tokens: number; costMicros: number } | undefined;
  /** The turn is not there any more: perhaps its user was erased, of whom nothing is made anew. */
  isGone?: boolean;
}

/** What one answer holds of its user's quota, in a document of its own: it stands from the moment it is given out. */
export interface Reservation {
  /**
   * Holds what the next call of the turn may take, beside what the turn has taken before it. Throws
   * USER_DAILY_TOKENS, USER_DAILY_USD, ANONYMOUS_LIMIT, GLOBAL_BUDGET, StoreUnavailableError.
   */
  renew(call: {
    model: string;
    estimatedTokens: number;
    taken: ModelUsage | undefined;
  }): Promise<void>;
  /**
   * Puts what was taken in the place of the reservation; to be called once, whatever became of the turn.
   * Never throws: what could not be settled expires.
   */
  settle(spending: QuotaSpending): Promise<void>;
  /** The turn did not begin: nothing was reserved. In the place of `settle`; never throws. */
  release(): Promise<void>;
}

export interface Quota {
  /**
   * Reserves what an answer may take, before its turn starts. Who dies with it leaves it until the turn could have
   * ended. Throws AppError RESOURCE_EXHAUSTED (USER_STREAMS, USER_RPM, USER_DAILY_MESSAGES, USER_DAILY_TOKENS,
   * USER_DAILY_USD, ANONYMOUS_LIMIT, GLOBAL_BUDGET) with retryAfterMs, GuardLostError, StoreUnavailableError.
   */
  reserve(request: QuotaRequest): Promise<Reservation>;
  /** Throws what `reserve` would throw now, and reserves nothing. */
  refuse(request: QuotaRequest): Promise<void>;
  /**
   * For work that is no message (a compaction that somebody asks for). Throws USER_DAILY_USD or GLOBAL_BUDGET
   * where nothing is left of either, StoreUnavailableError.
   */
  refuseSpent(caller: Caller): Promise<void>;
  /**
   * Counts things that a caller makes beside messages. Returns what goes into the batch that makes them, guarded by
   * what was read: who loses asks anew. Throws USER_DAILY_CREATIONS, ANONYMOUS_LIMIT, StoreUnavailableError.
   */
  create(caller: Caller, count: number): Promise<readonly Write[]>;
  /**
   * Takes a place for a stream of this instance until the returned function is called. Throws USER_STREAMS
   * where the caller has as many open as is allowed.
   */
  openStream(caller: Caller): () => void;
}
