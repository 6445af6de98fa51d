import { expect, test } from 'vitest';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import {
  type StoredTurn,
  type TurnPages,
  turnRemarks,
  withoutReplaced,
} from '#web/state/transcript.ts';

const message = (role: 'user' | 'model', seq: number, is: Partial<MessageView>): MessageView => ({
  id: `${role}-${seq}`,
  turnId: `t_${seq}`,
  seq,
  role,
  parts: [],
  state: 'done',
  createTime: '2026-01-02T03:04:05.000Z',
  inContext: true,
  ...is,
});

const turn = (seq: number, is: Partial<MessageView> = {}): StoredTurn => ({
  seq,
  user: message('user', seq, is),
  answer: message('model', seq, is),
});

const pagesOf = (...turns: StoredTurn[]): TurnPages => new Map([[0, turns]]);

test.each([
  ['nothing of an answer as others', {}, []],
  ['nothing of one that waits for the app', { state: 'awaiting_tool', inContext: false }, []],
  ['that it was stopped', { state: 'cancelled' }, ['stopped']],
  ['that there is none', { state: 'failed', inContext: false }, ['failed']],
  ['that it was cut', { finishReason: 'length' }, ['length']],
  ['that it repeated itself', { loop: 'text', finishReason: 'other' }, ['loop']],
  [
    'that the filter ended it, and who sees it',
    { finishReason: 'content-filter', inContext: false },
    ['contentFilter', 'notInContext'],
  ],
  ['of an erased message nothing else', { deleted: true, inContext: false }, ['deleted']],
] as const)('a turn’s remark says %s', (_, is, kinds) => {
  const stored = turn(1, is);

  const remarks = turnRemarks(stored, pagesOf(stored));

  expect(remarks.map(({ kind }) => kind)).toEqual(kinds);
});

test('a turn’s remark names the first turn that replaced another', () => {
  const replaced = turn(2, { inContext: false });
  const pages = pagesOf(turn(1), replaced, turn(3, { replaces: 2 }), turn(4, { replaces: 2 }));

  expect(turnRemarks(replaced, pages)).toEqual([{ kind: 'replaced', by: 3 }]);
});

test('a new turn removes the replaced one from the context, and nothing before it', () => {
  const pages = pagesOf(turn(1), turn(2), turn(3), turn(4, { replaces: 2 }));

  const after = [...withoutReplaced(pages, 4).values()].flat();

  expect(after.map(({ user, answer }) => [user?.inContext, answer?.inContext])).toEqual([
    [true, true],
    [false, false],
    [false, false],
    [true, true],
  ]);
});
