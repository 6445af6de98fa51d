/** Bounds of one search; recap.pml says what each counts. */
export interface Bounds {
  MESSAGES: number;
  REPEATS: number;
  FAULTS: number;
  CHANGES: number;
}

/**
 * Searched on every run of the tests: every order in which turns and compactions meet with one fault of
 * any kind, and every order in which the owner changes something meanwhile. About 10 s on two cores.
 */
export const smallConfigurations: readonly Bounds[] = [
  { MESSAGES: 3, REPEATS: 0, FAULTS: 1, CHANGES: 0 },
  { MESSAGES: 2, REPEATS: 0, FAULTS: 0, CHANGES: 1 },
];

/** Searched on demand: more turns, more faults, faults and changes together. */
export const fullConfigurations: readonly Bounds[] = [
  { MESSAGES: 5, REPEATS: 0, FAULTS: 0, CHANGES: 0 },
  { MESSAGES: 3, REPEATS: 0, FAULTS: 2, CHANGES: 0 },
  { MESSAGES: 3, REPEATS: 0, FAULTS: 0, CHANGES: 1 },
  { MESSAGES: 2, REPEATS: 1, FAULTS: 1, CHANGES: 1 },
  { MESSAGES: 3, REPEATS: 1, FAULTS: 1, CHANGES: 0 },
  { MESSAGES: 1, REPEATS: 2, FAULTS: 2, CHANGES: 0 },
];

/**
 * Too many states to keep: each is kept as its 64-bit hash, and two with one hash count as one. So no error
 * is strong evidence and no proof. About 120 million states, 5 GB and ten minutes.
 */
export const hashedConfigurations: readonly Bounds[] = [
  { MESSAGES: 3, REPEATS: 0, FAULTS: 1, CHANGES: 1 },
];

/** A way to break the protocol, and the smallest bounds in which the checker finds out. */
interface Mutant {
  /** Preprocessor symbol of recap.pml. */
  name: string;
  sentence: string;
  bounds: Bounds;
}

export const mutants: readonly Mutant[] = [
  {
    name: 'NO_SWEEP',
    sentence: 'without the sweep a need or an open turn is forgotten after a crash',
    bounds: { MESSAGES: 2, REPEATS: 0, FAULTS: 1, CHANGES: 0 },
  },
  {
    name: 'WHOLE_DOCUMENT_REWRITE',
    sentence: 'a swap that rewrites the whole head loses a message sent meanwhile',
    bounds: { MESSAGES: 3, REPEATS: 0, FAULTS: 0, CHANGES: 0 },
  },
  {
    name: 'SWAP_CLEARS_REQUEST',
    sentence: 'a swap that clears the needs of the head loses one that it did not serve',
    bounds: { MESSAGES: 2, REPEATS: 0, FAULTS: 0, CHANGES: 1 },
  },
  {
    name: 'SETTLE_DOES_NOT_LOOK_AGAIN',
    sentence: 'a worker that settles a swap and does not look again leaves a crossing unheard',
    bounds: { MESSAGES: 3, REPEATS: 0, FAULTS: 0, CHANGES: 0 },
  },
  {
    name: 'EDIT_TAKES_NO_GENERATION',
    sentence: 'an edit that takes no generation comes back in the snapshot of a worker in flight',
    bounds: { MESSAGES: 2, REPEATS: 0, FAULTS: 0, CHANGES: 1 },
  },
  {
    name: 'RETRY_WHILE_FOLDING',
    sentence: 'a failed message that is answered while a worker folds its place is in no context',
    bounds: { MESSAGES: 3, REPEATS: 1, FAULTS: 1, CHANGES: 0 },
  },
];
