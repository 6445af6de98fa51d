import { describe, expect, test } from 'vitest';
import { newHead } from '../../../shared/conversation/new-head.ts';
import { decideStart, type StartFacts } from '../../../shared/conversation/start-decision.ts';
import type { TurnDocument } from '../../../shared/conversation/turn.ts';

const now = new Date('2026-01-02T03:04:05Z');
const later = new Date(now.getTime() + 10_000);
const earlier = new Date(now.getTime() - 1);

const head = {
  ...newHead({
    epoch: 'e',
    ownerUid: 'owner',
    model: 'gemini-3.5-flash',
    profile: 'assistant',
    systemInstruction: undefined,
    now,
  }),
  lastSeq: 4,
};

const turn = (fields: Partial<TurnDocument['value']>): TurnDocument['value'] => ({
  schemaVersion: 1,
  seq: 4,
  messageId: 'id',
  state: 'running',
  attempt: 1,
  producer: 'p',
  leaseUntil: later,
  createTime: now,
  tokens: { user: 1, answer: 0 },
  inContext: false,
  userJson: '{}',
  userPieces: 0,
  answerJson: '[]',
  answerPieces: 0,
  ...fields,
});

const error = (retryable: boolean) => ({
  status: 'UNAVAILABLE' as const,
  reason: 'R',
  message: 'm',
  retryable,
});
const guard = { seq: 4, bodyHash: 'hash' };

const facts = (changes: Partial<StartFacts>): StartFacts => ({
  now,
  uid: 'owner',
  bodyHash: 'hash',
  head,
  guard: undefined,
  known: undefined,
  open: undefined,
  ...changes,
});

describe('what a send does', () => {
  test.each([
    ['starts turn 1 of an unknown conversation', { head: undefined }, { kind: 'start', seq: 1 }],
    ['starts the next turn when nothing is open', {}, { kind: 'start', seq: 5 }],
    ['finds nothing in another user’s conversation', { uid: 'other' }, { kind: 'notFound' }],
    [
      'finds nothing in a deleted conversation',
      { head: { ...head, state: 'deleted' as const } },
      { kind: 'notFound' },
    ],
    [
      'attaches to its own running turn',
      { guard, known: turn({}) },
      { kind: 'attach', seq: 4, attempt: 1 },
    ],
    [
      'takes over its own turn when the lease has run out',
      { guard, known: turn({ leaseUntil: earlier }) },
      { kind: 'takeOver', seq: 4, attempt: 2 },
    ],
    [
      'gives up after the third attempt',
      { guard, known: turn({ leaseUntil: earlier, attempt: 3 }) },
      { kind: 'giveUp', seq: 4 },
    ],
    [
      'replays a finished turn',
      { guard, known: turn({ state: 'done' }) },
      { kind: 'replay', seq: 4 },
    ],
    [
      'replays a cancelled turn',
      { guard, known: turn({ state: 'cancelled' }) },
      { kind: 'replay', seq: 4 },
    ],
    [
      'tries a retryable failure again while it is the last turn',
      { guard, known: turn({ state: 'failed', error: error(true) }) },
      { kind: 'takeOver', seq: 4, attempt: 2 },
    ],
    [
      'waits with a retryable failure as long as the model asked',
      {
        guard,
        known: turn({
          state: 'failed',
          finishTime: earlier,
          error: { ...error(true), retryAfterMs: 10_001 },
        }),
      },
      { kind: 'retryLater', seq: 4, retryAfterMs: 10_000 },
    ],
    [
      'replays a retryable failure that is no longer the last turn',
      {
        guard: { seq: 3, bodyHash: 'hash' },
        known: turn({ seq: 3, state: 'failed', error: error(true) }),
      },
      { kind: 'replay', seq: 3 },
    ],
    [
      'replays a failure that no retry can mend',
      { guard, known: turn({ state: 'failed', error: error(false) }) },
      { kind: 'replay', seq: 4 },
    ],
    [
      'refuses a known id with another body',
      { guard: { seq: 4, bodyHash: 'other' }, known: turn({ state: 'done' }) },
      { kind: 'keyReused', seq: 4 },
    ],
    [
      'is busy while another turn runs',
      { open: turn({}) },
      { kind: 'busy', seq: 4, retryAfterMs: 5_000 },
    ],
    [
      'closes an abandoned turn and starts the next',
      { open: turn({ leaseUntil: earlier }) },
      { kind: 'start', seq: 5, closeExpired: 4 },
    ],
  ] satisfies [string, Partial<StartFacts>, object][])('%s', (_, changes, decision) => {
    expect(decideStart(facts(changes))).toEqual(decision);
  });
});
