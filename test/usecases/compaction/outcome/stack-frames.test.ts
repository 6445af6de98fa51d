import { describe, expect, test } from 'vitest';
import { stackFrames } from '#functions/lib/stack-frames.ts';

const thrown = (message: string): Error => new RangeError(message);

const likeFrames = 'x\n    at secret (file:///a.ts:1:1)';

/** An error whose message is not the one it was made with; its stack keeps that one. */
const reworded = (message: string): Error =>
  Object.assign(new RangeError(message), {
    stack: `RangeError: ${likeFrames}\n    at here (file:///b.ts:1:1)`,
  });

describe('the frames of an error', () => {
  test('an error’s frames name where it was thrown, nearest first', () => {
    const [first = ''] = stackFrames(thrown('away')).split(' | ');

    expect(first).toMatch(/^at thrown .*stack-frames\.test\.ts:\d+:\d+\)$/);
  });

  test.each([
    ['a message of one line', thrown('secret')],
    ['a message that looks like frames', thrown(likeFrames)],
    ['a message that was taken away', reworded('')],
    ['a message that was replaced', reworded('other')],
  ])('an error’s frames hold no word of %s', (_, error) => {
    expect(stackFrames(error)).not.toContain('secret');
  });

  test('an error without a message has frames', () => {
    expect(stackFrames(new Error())).toContain('stack-frames.test.ts');
  });

  test('an error has at most eight frames', () => {
    const deep = (depth: number): Error => (depth === 0 ? new Error('deep') : deep(depth - 1));

    expect(stackFrames(deep(9)).split(' | ')).toHaveLength(8);
  });
});
