import { expect, test } from 'vitest';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { ScriptedTurn } from './tool-script.ts';
import { transcriptProblems } from './tool-transcript.ts';

const turn: ScriptedTurn = {
  userTexts: ['Go', ' on.'],
  answers: [
    {
      role: 'model',
      parts: [
        { text: 'I look.' },
        { functionCall: { id: 'a', name: 'look', args: { at: 1 } } },
        { functionCall: { name: 'ask', args: {} } },
      ],
    },
    { role: 'model', parts: [{ text: 'Seen.' }] },
  ],
  calls: [
    { id: 'a', name: 'look', args: { at: 1 }, response: { output: 'x', n: 2 } },
    { id: undefined, name: 'ask', args: {} },
  ],
  isStopped: false,
  isFilled: false,
};

const answer: MessageView['parts'] = [
  { type: 'text', text: 'I ' },
  { type: 'text', text: 'look.' },
  { type: 'functionCall', callId: 't_1_c0', name: 'look', args: { at: 1 } },
  { type: 'functionCall', name: 'ask', args: {} },
  { type: 'functionResponse', name: 'look', response: { n: 2, output: 'x' } },
  { type: 'functionResponse', name: 'ask', response: { error: 'cancelled_by_user' } },
  { type: 'text', text: 'Seen.' },
];

const message = (role: 'user' | 'model', parts: MessageView['parts'], seq = 1): MessageView => ({
  id: `${role}-${seq}`,
  turnId: `t_${seq}`,
  seq,
  role,
  parts,
  state: 'done',
  createTime: '2026-01-01T00:00:00.000Z',
  inContext: true,
});
const said = message('user', [{ type: 'text', text: 'Go on.' }]);

test('a transcript that holds all that was recorded has no problem', () => {
  expect(transcriptProblems([turn], [said, message('model', answer)])).toEqual([]);
});

test.each([
  { name: 'a lost call', parts: answer.toSpliced(3, 1) },
  { name: 'a lost output', parts: answer.toSpliced(5, 1) },
  { name: 'a lost text', parts: answer.slice(0, -1) },
  {
    name: 'outputs in another order',
    parts: [...answer.slice(0, 4), ...answer.slice(4, 6).toReversed(), ...answer.slice(6)],
  },
  {
    name: 'another output',
    parts: answer.with(4, { type: 'functionResponse', name: 'look', response: { output: 'y' } }),
  },
  {
    name: 'an output where the recording has none',
    parts: answer.with(5, { type: 'functionResponse', name: 'ask', response: { output: 'y' } }),
  },
  { name: 'a text too many', parts: [...answer, { type: 'text' as const, text: ' More.' }] },
  { name: 'no answer', parts: [] },
])('a transcript with $name has a problem', ({ parts }) => {
  expect(transcriptProblems([turn], [said, message('model', parts)])).toHaveLength(1);
});

test('a transcript with another message, or more messages, has a problem', () => {
  const other = message('user', [{ type: 'text', text: 'Go.' }]);

  expect(transcriptProblems([turn], [other, message('model', answer)])).toHaveLength(1);
  expect(
    transcriptProblems([turn], [said, message('model', answer), message('user', answer, 2)]),
  ).toHaveLength(1);
});
