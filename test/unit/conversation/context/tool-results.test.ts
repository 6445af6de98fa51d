import { expect, test } from 'vitest';
import type { Content } from '#shared/models/content.ts';
import { endedContents, openResponses } from '#shared/conversation/context/tool-calls.ts';
import { decideToolResults, type ToolResult } from '#shared/conversation/context/tool-results.ts';

const said: Content = {
  role: 'model',
  parts: [
    { text: 'One moment.' },
    { functionCall: { name: 'locate', args: { precise: true } }, thoughtSignature: 's' },
    { functionCall: { id: 'own', name: 'locate' } },
    { functionCall: { name: 'transfer' } },
  ],
};
const contents = [said, openResponses(said)];
const rounds = { count: 1, step: 1, frames: [], app: [0, 1], asks: [2], usages: [] };
const turn = { seq: 3, state: 'awaiting_tool' as const, contents, rounds };

const output = (index: number, response: Record<string, unknown>): ToolResult => ({
  callId: `t_3_c${index}`,
  kind: 'response',
  response,
});

test.each([
  { results: [output(0, { b: 2, a: 1 })], kind: 'known' },
  { results: [output(0, { a: 2 })], kind: 'conflict' },
  { results: [output(0, { a: 1, b: 2 }), output(1, {})], kind: 'new' },
])(
  'a repeated tool result is recognised whatever the order of its keys: $kind',
  ({ results, kind }) => {
    const first = decideToolResults(turn, [output(0, { a: 1, b: 2 })]);
    const answered = first.kind === 'new' ? { ...turn, contents: first.contents } : turn;

    expect(decideToolResults(answered, results)).toMatchObject({ kind });
  },
);

test('every call of an ended turn has a response with its id', () => {
  const [, answers] = endedContents(contents, 'expired');

  expect(answers?.parts).toEqual([
    { functionResponse: { name: 'locate', response: { error: 'expired' } } },
    { functionResponse: { id: 'own', name: 'locate', response: { error: 'expired' } } },
    { functionResponse: { name: 'transfer', response: { error: 'expired' } } },
  ]);
});
