import { remedies, type Fault } from './fault.ts';

/** What can be wrong with turns and their messages. */
export const transcriptFaults = {
  'head-unreadable': {
    invariant: 'I1',
    shouldBe: 'a head of the known shape',
    remedy: remedies.fromBackup,
  },
  'newer-version': {
    invariant: 'I1',
    shouldBe: 'no document of a later release than this one',
    remedy:
      'nothing is wrong with it: deploy the release that wrote it, or a later one, and verify with that one',
  },
  'turn-missing': {
    invariant: 'I1',
    shouldBe: 'a turn for each number from 1 to lastSeq',
    remedy: remedies.fromBackup,
  },
  'turn-beyond': {
    invariant: 'I1',
    shouldBe: 'no turn after lastSeq',
    remedy: 'find out who wrote it; the service never reads it',
  },
  'turn-misplaced': {
    invariant: 'I1',
    shouldBe: 'each turn under the id that its seq gives',
    remedy: remedies.fromBackup,
  },
  'turn-unreadable': {
    invariant: 'I1',
    shouldBe: 'a turn of the known shape whose texts are contents',
    remedy: remedies.fromBackup,
  },
  'piece-missing': {
    invariant: 'I1',
    shouldBe: 'every piece that the turn names',
    remedy: remedies.fromBackup,
  },
  'guard-missing': {
    invariant: 'I1',
    shouldBe: 'a guard of the message of each turn',
    remedy: 'write messages/{id} with the seq of the turn, or the id may be sent a second time',
  },
  'guard-misdirected': {
    invariant: 'I1',
    shouldBe: 'a guard that names the turn of its message',
    remedy: 'set its seq to that of the turn with this message id',
  },
  'guard-dangling': {
    invariant: 'I1',
    shouldBe: 'a guard that names a turn that is there',
    remedy: remedies.fromBackup,
  },
  'guard-without-hash': {
    invariant: 'I1',
    shouldBe: 'the hash of the message, as long as the message is not erased',
    remedy: 'none: another message under this id would be taken for the first one',
  },
  'guard-unreadable': {
    invariant: 'I1',
    shouldBe: 'a guard with seq and bodyHash',
    remedy: remedies.fromBackup,
  },
  'open-turn-ended': {
    invariant: 'I1',
    shouldBe:
      'head.open names a turn that runs or waits for the app, and the last but for queued ones',
    remedy: remedies.bySweep,
  },
  'running-not-open': {
    invariant: 'I1',
    shouldBe: 'a turn that runs is the one that head.open names',
    remedy: 'end it by hand (state failed, finishTime): nobody closes a turn that is not open',
  },
  'queued-not-in-queue': {
    invariant: 'I1',
    shouldBe: 'a turn that waits stands in head.queue',
    remedy: 'end it by hand (state failed, finishTime), or send the message again under a new id',
  },
  'message-twice': {
    invariant: 'I5',
    shouldBe: 'a message id is one turn',
    remedy: 'delete the later message: `DELETE …/messages/{id}` of its answer',
  },
  'end-missing': {
    invariant: 'I5',
    shouldBe: 'an ended turn says when it ended, a failed one why',
    remedy: 'write finishTime, and for a failed one error',
  },
  'end-early': {
    invariant: 'I5',
    shouldBe: 'a turn that has not ended has neither an end nor an error',
    remedy: remedies.bySweep,
  },
  'usage-wrong': {
    invariant: 'I5',
    shouldBe: 'one bill for each turn, of no negative figures',
    remedy: 'correct usage by the bill of the model; quotas counted what stood here',
  },
} as const satisfies Record<string, Fault>;
