import type { Turn } from '#shared/conversation/documents/turn.ts';
import {
  decideErase,
  ERASED_MAX,
  type EraseFacts,
} from '#shared/conversation/writes/erase-turn.ts';
import { saidTurn } from '#test/support/compaction/said-turn.ts';
import { expect, test } from 'vitest';

const now = new Date('2026-01-02T03:04:05Z');

const turn = (seq: number, fields: Partial<Turn> = {}): Turn => ({
  ...saidTurn(seq, { user: 'Hello', model: 'Hi' }),
  ...fields,
});

const withoutAnswer = (seq: number) => turn(seq, { eraseTime: now, contents: [] });
const empty = (seq: number) => ({
  ...withoutAnswer(seq),
  user: { role: 'user' as const, parts: [] },
});
const many = Array.from({ length: ERASED_MAX + 1 }, (_, i) => turn(i + 1));

const ofMessage = (alike: Turn[]): EraseFacts => ({
  named: alike[0] ?? turn(1),
  isAnswer: false,
  alike,
});
const ofAnswer = (named: Turn): EraseFacts => ({ named, isAnswer: true, alike: [] });

test.each([
  [
    'erases as many turns as one batch takes',
    ofMessage(many),
    {
      kind: 'erase',
      part: 'turn',
      seqs: many
        .map(({ seq }) => seq)
        .toReversed()
        .slice(0, ERASED_MAX),
      isLast: false,
    },
  ],
  ['of one that is erased is done', ofMessage([empty(2), empty(3)]), { kind: 'done' }],
  [
    'finds no answer in a turn without',
    ofAnswer(turn(2, { state: 'failed', contents: [] })),
    { kind: 'notFound' },
  ],
  [
    'waits for a regeneration that is queued',
    ofMessage([turn(2), turn(3, { state: 'queued' })]),
    { kind: 'inProgress', seq: 3 },
  ],
] satisfies [string, EraseFacts, object][])('deleting a message: %s', (_, facts, decision) => {
  expect(decideErase(facts)).toEqual(decision);
});
