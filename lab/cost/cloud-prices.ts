/** US dollars, by what is billed. */
export interface CloudPrices {
  perRead: number;
  perWrite: number;
  perDelete: number;
  /** A publish or a push of at most 1,000 bytes, which is what each is billed as at least. */
  perMessage: number;
}

/** The day on which the prices below were read. */
export const PRICED_ON = '2026-11-22';

/**
 * Firestore, standard edition, us-central1, beyond the free quota: cloud.google.com/firestore/pricing ($0.03, $0.09
 * and $0.01 for 100,000). Pub/Sub: cloud.google.com/pubsub/pricing ($40 a TiB, at least 1,000 bytes a request).
 */
export const cloudPrices: CloudPrices = {
  perRead: 0.03 / 100_000,
  perWrite: 0.09 / 100_000,
  perDelete: 0.01 / 100_000,
  perMessage: (40 * 1_000) / 2 ** 40,
};

/** What Firestore and Pub/Sub are asked for. */
export interface Operations {
  reads: number;
  writes: number;
  deletes: number;
  messages: number;
}

export const operationDollars = (operations: Operations, prices: CloudPrices): number =>
  operations.reads * prices.perRead +
  operations.writes * prices.perWrite +
  operations.deletes * prices.perDelete +
  operations.messages * prices.perMessage;
