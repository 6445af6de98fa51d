import { remedies, type Invariant } from './invariant.ts';
import type { Stored, Unreadable } from './stored.ts';

const unreadable =
  (kind: Unreadable['kind']): Invariant<Stored>['breaches'] =>
  (stored) =>
    stored.unreadable
      .filter((document) => document.kind === kind && !document.isNewer)
      .map(({ path, problem }) => ({ path, is: problem }));

/** Every document can be read. Where the first two do not hold, nothing else is asked. */
export const readableInvariants = {
  'head-unreadable': {
    group: 'I1',
    shouldBe: 'a conversation document of the known shape',
    remedy: remedies.fromBackup,
    breaches: unreadable('head'),
  },
  'newer-version': {
    group: 'I1',
    shouldBe: 'no document of a later release than this one',
    remedy:
      'nothing is wrong with it: deploy the release that wrote it, or a later one, and verify with that one',
    breaches: (stored) =>
      stored.unreadable
        .filter(({ isNewer }) => isNewer)
        .map(({ path, problem }) => ({ path, is: problem })),
  },
  'turn-unreadable': {
    group: 'I1',
    shouldBe: 'a turn of the known shape whose texts are contents',
    remedy: remedies.fromBackup,
    breaches: unreadable('turn'),
  },
  'guard-unreadable': {
    group: 'I1',
    shouldBe: 'a guard with seq and bodyHash',
    remedy: remedies.fromBackup,
    breaches: unreadable('guard'),
  },
  'history-unreadable': {
    group: 'I3',
    shouldBe: 'a history of the known shape',
    remedy: remedies.restoreEarlier,
    breaches: unreadable('history'),
  },
  'job-unreadable': {
    group: 'I4',
    shouldBe: 'a job of the known shape',
    remedy: 'delete jobs/compaction: the next compaction makes a new one',
    breaches: unreadable('job'),
  },
} as const satisfies Record<string, Invariant<Stored>>;
