import type { Need } from '../../../shared/compaction/claim-decision.ts';
import type { CompactionPolicy } from '../../../shared/compaction/policy.ts';
import type { ContextSource } from '../../../shared/conversation/assemble-context.ts';
import type { Head, Versioned } from '../../../shared/conversation/head.ts';
import type { History } from '../../../shared/conversation/history.ts';
import type { CompactionJob } from '../../../shared/conversation/job.ts';
import type { Turn } from '../../../shared/conversation/turn.ts';
import type { ContextObject } from '../../../shared/wire/context-object.ts';
import { summariserOf } from '../conversation-policy.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';
import type { JobLease } from './job-lease.ts';

/** One consistent reading of a conversation: the head, its job, and the context that the head names. */
export interface Reading {
  conversationId: string;
  head: Versioned<Head>;
  job: Versioned<CompactionJob> | undefined;
  policy: CompactionPolicy;
  history: History | undefined;
  /** Terminal turns of the tail in order, without a gap. */
  turns: Turn[];
  /** Tokens of the context now, and who counted them. */
  tokens: number;
  tokensSource: ContextObject['source'];
}

/** What the model calls of one attempt cost; rises as they are made. */
export interface Bill {
  calls: number;
  promptTokens: number;
  outputTokens: number;
}

/** One attempt at one need, from the claim to the settlement. */
export interface Run {
  dependencies: CompactionDependencies;
  reading: Reading;
  need: Need;
  /** Counts from 1. */
  attempt: number;
  isModelAllowed: boolean;
  startTime: Date;
  bill: Bill;
}

/** A run that holds the lease. */
export interface ClaimedRun extends Run {
  lease: JobLease;
  /** Fires when the lease is lost, the conversation moves on, or the caller gives up. */
  signal: AbortSignal;
}

/** The context as it was read; compaction counts and folds by the same function as chat sends. */
export const contextOf = ({ head, history, turns }: Reading): ContextSource => ({
  model: head.value.model,
  systemInstruction: head.value.systemInstruction,
  pins: head.value.pins,
  history,
  coveredThrough: head.value.coveredThrough,
  turns,
});

/** Model and window of the run's summariser. */
export const summariserOfRun = ({ dependencies, reading }: Run) =>
  summariserOf(dependencies.config, {
    model: reading.head.value.model,
    windowTokens: reading.policy.windowTokens,
  });

export const elapsedMs = (run: Pick<Run, 'dependencies' | 'startTime'>): number =>
  Math.max(0, run.dependencies.clock.now().getTime() - run.startTime.getTime());
