import { describe, expect, test } from 'vitest';
import { completeResults, parseOutput, type OpenCall } from '#web/panes/transcript/tool-results.ts';

const call = (callId: string): OpenCall => ({ callId, name: 'locate', args: {}, wants: 'output' });

test.each([
  ['{"degrees":21}', { degrees: 21 }],
  ['[1,2]', [1, 2]],
  ['in the garden', { output: 'in the garden' }],
])('an answer typed as %s is sent as JSON', (typed, output) => {
  expect(parseOutput(typed)).toEqual(output);
});

describe('results', () => {
  const first = { callId: 't_1_c0', output: {} };
  const second = { callId: 't_1_c1', error: 'The user declined.' };

  test.each([
    ['none of two calls', [], undefined],
    ['one of two', [first], undefined],
    ['both', [second, first], [first, second]],
  ])('app results are sent once all calls are answered: %s', (_, given, expected) => {
    const map = new Map(given.map((result) => [result.callId, result]));

    expect(completeResults([call('t_1_c0'), call('t_1_c1')], map)).toEqual(expected);
  });

  test('a turn that waits for nothing has no app results', () => {
    expect(completeResults([], new Map())).toBeUndefined();
  });
});
