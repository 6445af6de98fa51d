import { remedies, type Fault } from './fault.ts';

/** What can be wrong with generations, their worker and their needs. */
export const compactionFaults = {
  'history-missing': {
    invariant: 'I3',
    shouldBe: 'a history for each generation from 1 to that of the head',
    remedy: remedies.restoreEarlier,
  },
  'history-beyond': {
    invariant: 'I3',
    shouldBe: 'no history after the generation of the head',
    remedy: 'delete it: while it is there no compaction, edit or restore can succeed',
  },
  'history-misplaced': {
    invariant: 'I3',
    shouldBe: 'each history under the id that its generation gives',
    remedy: remedies.restoreEarlier,
  },
  'history-unreadable': {
    invariant: 'I3',
    shouldBe: 'a history of the known shape',
    remedy: remedies.restoreEarlier,
  },
  'history-parent': {
    invariant: 'I3',
    shouldBe: 'the parent of a history is the generation before it',
    remedy: remedies.restoreEarlier,
  },
  'history-signature': {
    invariant: 'I3',
    shouldBe: 'the signature of the server over what the history says',
    remedy: `somebody else changed it, and it is left out of every prompt: ${remedies.restoreEarlier}`,
  },
  'history-empty': {
    invariant: 'I3',
    shouldBe: 'a snapshot in every history that folds turns and was not emptied by an erasure',
    remedy: remedies.restoreEarlier,
  },
  'history-source': {
    invariant: 'I3',
    shouldBe: 'the SHA-256 of what was folded',
    remedy: remedies.restoreEarlier,
  },
  'blob-missing': {
    invariant: 'I3',
    shouldBe: 'every blob that a shortened tool output names, whole and with the text of its name',
    remedy: `the turn still has the output in full: ${remedies.rebuild}`,
  },
  'job-unreadable': {
    invariant: 'I4',
    shouldBe: 'a job of the known shape',
    remedy: 'delete jobs/compaction: the next compaction makes a new one',
  },
  'job-missing': {
    invariant: 'I4',
    shouldBe: 'a job in a conversation that was compacted',
    remedy: 'none needed: the next compaction makes a new one; limits and breaker begin anew',
  },
  'lease-too-long': {
    invariant: 'I4',
    shouldBe: 'a lease that ends within the length of leases',
    remedy: 'set owner to "" in jobs/compaction: no other worker may begin until then',
  },
  'fence-behind': {
    invariant: 'I4',
    shouldBe: 'a fence of at least the number of swaps',
    remedy: 'raise fence in jobs/compaction above it',
  },
  'swapped-twice': {
    invariant: 'I4',
    shouldBe: 'each generation is made by one compaction',
    remedy: 'keep the record whose request id the history has',
  },
  'record-astray': {
    invariant: 'I4',
    shouldBe: 'a record names a generation that is there and was made by its request',
    remedy: 'the history says what happened; remove the record',
  },
  'need-overdue': {
    invariant: 'I6',
    shouldBe: 'a need is served or settled within minutes',
    remedy: '`dead-letters list`, then `compact ID`; look for `sweep_failed` in the log',
  },
  'crossing-forgotten': {
    invariant: 'I6',
    shouldBe: 'over the threshold a need, a record of why not, or a compaction',
    remedy: remedies.compactNow,
  },
  'turn-abandoned': {
    invariant: 'I6',
    shouldBe: 'no turn is open long after its lease has ended',
    remedy: remedies.bySweep,
  },
} as const satisfies Record<string, Fault>;
