import { BUDGET_SHARDS, BUDGET_WRITE_EVERY_MS } from '#functions/quota/quota-settings.ts';
import { SWEEP_SHARDS } from '#shared/conversation/decisions/sweep-shard.ts';
import type { DocumentCounts } from './document-counts.ts';
import { assumed, monthlyCost, type MonthlyCost } from './monthly-cost.ts';

const SECONDS_PER_DAY = 86_400;

/** What terraform/variables.tf gives the functions; a test compares. */
export const deployed = {
  chat: { concurrency: 40, maxInstances: 15, memoryMib: 512 },
  compaction: { concurrency: 8, maxInstances: 5, memoryMib: 512 },
} as const;

/** What is assumed beside `assumed`; put in your own. */
export const assumedPeak = {
  /** The busiest minutes, beside the average of the day. */
  peakFactor: 4,
  /** Of the places for requests on an instance, when another one is started. */
  filledShare: 0.6,
} as const;

/** Figures of others that the design meets; the page says where they stand. */
export const limits = {
  /** Writes a second to a collection, in the order of one index. */
  sequentialWrites: 500,
  /** Operations a second that a new database takes, and what may be added every five minutes. */
  rampFrom: 500,
  rampStep: 1.5,
  rampMinutes: 5,
} as const;

/** A start and a finish write the conversation document, with times that are later than all others. */
const CONVERSATION_WRITES_OF_TURN = 2;
/** What operators change while instances run is read so often by each of them. */
const CONFIG_EVERY_SECONDS = 60;
/** An event of a topic is published and pushed. */
const PUBLISHED_AND_PUSHED = 2;

export interface Scale {
  /** In the busiest minutes, a second. */
  turns: number;
  reads: number;
  writes: number;
  compactions: number;
  messages: number;
  /** Writes a second with the latest time in one index: as they are, and in each shard. */
  sequentialWrites: number;
  sequentialWritesOfShard: number;
  /** Reads a second of each of the operator's documents. */
  configReads: number;
  /** Writes a second of each shard of the budget of all. */
  budgetWritesOfShard: number;
  answersAtOnce: number;
  chatInstances: number;
  compactionsAtOnce: number;
  workerInstances: number;
  /** Millions a minute. */
  chatTokens: number;
  compactionTokens: number;
  /** From a new database, without a jump of traffic. */
  rampHours: number;
  cost: MonthlyCost;
}

/** Instances that serve `atOnce` requests, before the next one is started. */
const instancesFor = (atOnce: number, concurrency: number): number =>
  Math.max(1, Math.ceil(atOnce / (concurrency * assumedPeak.filledShare)));

function operations(counts: DocumentCounts, input: { turns: number; compactions: number }) {
  const { turn, elsewhere, compaction } = counts;
  const readsOfTurn = turn.reads + assumed.coldShare * (elsewhere.reads - turn.reads);
  return {
    reads: input.turns * readsOfTurn + input.compactions * compaction.reads,
    writes: input.turns * turn.writes + input.compactions * compaction.writes,
    messages: input.compactions * compaction.messages * PUBLISHED_AND_PUSHED,
  };
}

/** Hours in which traffic may grow to so many operations a second. */
function hoursToReach(operationsPerSecond: number): number {
  const steps = Math.log(operationsPerSecond / limits.rampFrom) / Math.log(limits.rampStep);
  return (Math.ceil(Math.max(0, steps)) * limits.rampMinutes) / 60;
}

/** A compaction makes two calls, each of which is held in the budget of all, and settled. */
const BUDGET_WRITES = 4;

/** What so many daily users ask of a deployment at their peak, and what they cost a month. */
export function scaleOf(size: { users: number; atOnce: number }, counts: DocumentCounts): Scale {
  const { peakFactor } = assumedPeak;
  const turns = (size.users * assumed.turnsPerUserDay * peakFactor) / SECONDS_PER_DAY;
  const compactions = turns / assumed.turnsPerCompaction;
  const asked = operations(counts, { turns, compactions });
  const answersAtOnce = turns * assumed.answerSeconds;
  const compactionsAtOnce = compactions * assumed.compactionSeconds;
  const chatInstances = instancesFor(answersAtOnce, deployed.chat.concurrency);
  const workerInstances = instancesFor(compactionsAtOnce, deployed.compaction.concurrency);
  const sequentialWrites = turns * CONVERSATION_WRITES_OF_TURN;
  const budgetWriters = Math.min(turns, chatInstances / (BUDGET_WRITE_EVERY_MS / 1_000));
  return {
    turns,
    ...asked,
    compactions,
    sequentialWrites,
    sequentialWritesOfShard: sequentialWrites / SWEEP_SHARDS,
    configReads: (chatInstances + workerInstances) / CONFIG_EVERY_SECONDS,
    budgetWritesOfShard: (budgetWriters + BUDGET_WRITES * compactions) / BUDGET_SHARDS,
    answersAtOnce,
    chatInstances,
    compactionsAtOnce,
    workerInstances,
    chatTokens: (turns * 60 * (assumed.promptTokens + assumed.answerTokens)) / 1e6,
    compactionTokens: (compactions * 60 * (assumed.foldedTokens + assumed.summaryTokens)) / 1e6,
    rampHours: hoursToReach(asked.reads + asked.writes),
    cost: monthlyCost(size, counts),
  };
}
