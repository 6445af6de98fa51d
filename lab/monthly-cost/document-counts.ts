/** What Firestore and Pub/Sub bill. */
export interface Operations {
  reads: number;
  writes: number;
  deletes: number;
  /** Documents that a TTL policy deletes later. */
  expiring: number;
  /** Messages to Pub/Sub. */
  messages: number;
}

export interface DocumentCounts {
  /** A turn of 300 tokens in 6 s, on an instance that has the conversation in memory. */
  turn: Operations;
  /** The same at once, on an instance that reads 51 turns first: the reads are what matters here. */
  elsewhere: Operations;
  /** A compaction of 52 turns by a summariser that takes 6 s, from the request to the swap. */
  compaction: Operations;
  /** A sweep that finds nothing to do. */
  sweep: Operations;
}

/** Measured on 22 November 2026 by `countDocuments`; a test measures them again. */
export const documentCounts: DocumentCounts = {
  turn: { reads: 7, writes: 29, deletes: 0, expiring: 11, messages: 0 },
  elsewhere: { reads: 68, writes: 11, deletes: 0, expiring: 2, messages: 0 },
  compaction: { reads: 121, writes: 20, deletes: 0, expiring: 0, messages: 5 },
  sweep: { reads: 19, writes: 0, deletes: 0, expiring: 0, messages: 0 },
};
