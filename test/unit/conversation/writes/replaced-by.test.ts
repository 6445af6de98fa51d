import type { TurnDocument } from '#shared/conversation/documents/turn.ts';
import { isInContextThrough } from '#shared/conversation/writes/replacement.ts';
import { now, turnDocument } from '../turn-decisions.ts';
import { expect, test } from 'vitest';

const turn = (fields: Partial<TurnDocument['value']>) =>
  turnDocument({ seq: 2, state: 'done', ...fields });

const answer = (part: object) => JSON.stringify([{ role: 'model', parts: [part] }]);

test.each([
  ['has a turn that is in the context', { inContext: true }, true],
  ['has a turn that only a later one replaced', { replacedBy: { t_5: true } }, true],
  ['has no turn that one of its own replaced', { replacedBy: { t_4: true } }, false],
  ['has no turn that was never in a context', {}, false],
  ['has no erased turn', { replacedBy: { t_5: true }, eraseTime: now }, false],
  ['has no filtered turn', { replacedBy: { t_5: true }, finishReason: 'SAFETY' }, false],
  [
    'has the part of an answer that was stopped',
    { replacedBy: { t_5: true }, state: 'cancelled', answerJson: answer({ text: 'Well' }) },
    true,
  ],
  [
    'has no turn that was stopped while it only thought',
    {
      replacedBy: { t_5: true },
      state: 'cancelled',
      answerJson: answer({ text: 'Hm', thought: true }),
    },
    false,
  ],
] satisfies [string, Partial<TurnDocument['value']>, boolean][])(
  'a copy that ends with turn 4: %s',
  (_, fields, isThere) => {
    expect(isInContextThrough(turn(fields), 4)).toBe(isThere);
  },
);
