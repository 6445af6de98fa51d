import type { CompactionPolicy } from '#shared/compaction/policy.ts';

/** US dollars, by what is billed. */
export interface CloudPrices {
  perRead: number;
  perWrite: number;
  /** A publish or a push of at most 1,000 bytes, which is what each is billed as at least. */
  perMessage: number;
}

/** The day on which the prices below were read. */
export const PRICED_ON = '2026-11-22';

/**
 * Firestore, standard edition, us-central1, beyond the free quota: cloud.google.com/firestore/pricing ($0.03 and
 * $0.09 for 100,000). Pub/Sub: cloud.google.com/pubsub/pricing ($40 a TiB, at least 1,000 bytes a request).
 */
export const cloudPrices: CloudPrices = {
  perRead: 0.03 / 100_000,
  perWrite: 0.09 / 100_000,
  perMessage: (40 * 1_000) / 2 ** 40,
};

/** What Firestore and Pub/Sub are asked for. */
export interface Operations {
  reads: number;
  writes: number;
  messages: number;
}

export const operationDollars = (operations: Operations, prices: CloudPrices): number =>
  operations.reads * prices.perRead +
  operations.writes * prices.perWrite +
  operations.messages * prices.perMessage;

/**
 * Of a turn and of a compaction, as a dialogue of 120 turns through chat and worker was counted on 2026-11-29 (commit
 * 4966c3c4).
 */
export const countedOperations: { turn: Operations; compaction: Operations } = {
  turn: { reads: 4.19, writes: 7.04, messages: 0 },
  compaction: { reads: 43, writes: 11.25, messages: 6 },
};

/** Of the summariser's system instruction and schema, counted in the same dialogue. */
export const INSTRUCTION_TOKENS = 2_424;

/** How a snapshot is made: by one call that reads what is folded and the snapshot before. */
export interface Summariser {
  /** System instruction and schema. */
  instructionTokens: number;
  outputTokens: number;
  /** Of the snapshot and its frame. */
  snapshotTokens: number;
  /** A second call reads the prompt and the answer again, and writes the snapshot anew. */
  isChecked: boolean;
}

/** The room of a snapshot grows over the first three folds; it is taken as it stands from then on. */
export const GROWN_ROOM = 1.5;

/**
 * Recap's: one call, whose answer is as large as the snapshot that comes of it. The snapshot fills its room.
 */
export function ledgerSummariser({
  snapshotBudgetTokens,
}: Pick<CompactionPolicy, 'snapshotBudgetTokens'>): Summariser {
  const snapshotTokens = GROWN_ROOM * snapshotBudgetTokens;
  return {
    instructionTokens: INSTRUCTION_TOKENS,
    outputTokens: snapshotTokens,
    snapshotTokens,
    isChecked: false,
  };
}

/** What the recorded summaries of Gemini CLI's prompt were allowed; it sets no limit itself. */
export const CLI_SUMMARY_CHARACTERS = 6_000;

/**
 * Gemini CLI's: a summary of the oldest 70 % and a check that reads them again. Its instruction has about 3,800
 * characters. Sizes: eight recorded answers to its prompt had 5,864 to 5,998 characters, 1,510 tokens on average.
 */
export const cliSummariser: Summariser = {
  instructionTokens: 1_000,
  outputTokens: 1_510,
  snapshotTokens: 1_510,
  isChecked: true,
};
