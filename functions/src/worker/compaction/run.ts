import { modelThatLimits, selectSummariser } from '#functions/config/conversation-policy.ts';
import type { BrakeReason } from '#shared/compaction/brake.ts';
import type { CompactionRequest } from '#shared/compaction/claim-decision.ts';
import type { CompactionPolicy } from '#shared/compaction/policy.ts';
import type { ContextSource } from '#shared/conversation/context/assemble-context.ts';
import type {
  CoveredThrough,
  Conversation,
  Versioned,
} from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionJob } from '#shared/conversation/documents/job.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { MemoryTexts } from '#shared/memory/render-memory.ts';
import type { ContextObject } from '#shared/wire/resources/context-object.ts';
import type { CompactionDependencies } from './compaction-dependencies.ts';
import type { JobLease } from './job-lease.ts';

/** The owner's memory as the prefix shows it, and as it will after a swap. */
export interface ReadMemory {
  before: MemoryTexts;
  after: MemoryTexts;
  /** Up to which notes stand in `after`. */
  revision: number;
}

/**
 * One consistent reading of a conversation: the conversation document, its job, and the context that the conversation
 * document names.
 */
export interface Reading {
  conversationId: string;
  conversation: Versioned<Conversation>;
  job: Versioned<CompactionJob> | undefined;
  policy: CompactionPolicy;
  /** What the run starts from: of the present generation, unless turns are read again. */
  history: History | undefined;
  /** How far `history` stands in for turns. */
  coveredThrough: CoveredThrough;
  /** `history` is an earlier one, or none: the present one cannot go on, or lost statements. */
  isReadAgain: boolean;
  /** Terminal turns behind `history` in order, without a gap. */
  turns: Turn[];
  /** Tokens of the context now, and who counted them. */
  tokens: number;
  tokensSource: ContextObject['source'];
  memory: ReadMemory;
  /** Estimated tokens of what `history` and `turns` make; more than `tokens` where turns are read again. */
  foldedTokens: number;
  /** Which settings of a comparison it has; absent where none is made. */
  variant?: string;
}

/** Of the context as it was read, without what no compaction can shrink. */
export const conversationTokens = ({
  tokens,
  conversation,
}: Pick<Reading, 'tokens' | 'conversation'>): number =>
  Math.max(0, tokens - conversation.value.context.overheadTokens);

/** What the model calls of one attempt cost; rises as they are made. */
export interface Bill {
  calls: number;
  promptTokens: number;
  /** Thoughts included. */
  outputTokens: number;
  /** Millionths of a US dollar; undefined once a call was made that reported nothing. */
  costMicros: number | undefined;
  /** The run stands among those of its owner's day. */
  isCounted?: true;
  /** The model that answered; absent before the first answer. */
  model?: string;
}

/** One attempt at one request, from the claim to the settlement. */
export interface Run {
  dependencies: CompactionDependencies;
  reading: Reading;
  request: CompactionRequest;
  /** Counts from 1. */
  attempt: number;
  /** Why no model may be asked; undefined: one may. */
  refusal: BrakeReason | undefined;
  startTime: Date;
  bill: Bill;
}

/** A run that holds the lease. */
export interface ClaimedRun extends Run {
  lease: JobLease;
  /** What PreCompact hooks tell the summariser, as data. */
  notes?: readonly string[];
  /** Fires when the lease is lost, the conversation moves on, or the caller gives up. */
  signal: AbortSignal;
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
  toolsJson: conversation.value.toolsJson,
  serverTools,
  memory: memory.before,
  pins: conversation.value.pins,
  history,
  coveredThrough,
  turns,
});

/** Model and window of the run's summariser. */
export const summariserOfRun = ({ dependencies, reading }: Run) =>
  selectSummariser(dependencies.config, {
    model: reading.conversation.value.model,
    windowTokens: reading.policy.windowTokens,
  });

export const elapsedMs = (run: Pick<Run, 'dependencies' | 'startTime'>): number =>
  Math.max(0, run.dependencies.clock.now().getTime() - run.startTime.getTime());
