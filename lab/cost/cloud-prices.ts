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
