import { toBlocks } from '#shared/compaction/split-by-tail.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import { describe, expect, test } from 'vitest';

const text: Content = { role: 'model', parts: [{ text: 'Done.' }] };
const remark: Content = { role: 'user', parts: [{ text: 'Hurry.' }] };
const call = (...names: string[]): Content => ({
  role: 'model',
  parts: names.map((name) => ({ functionCall: { name, args: {} } })),
});
const response = (...names: string[]): Content => ({
  role: 'user',
  parts: names.map((name) => ({ functionResponse: { name, response: {} } })),
});
const counting = { rule: 'character-class' } as const;

describe('the blocks of an answer', () => {
  test.each<[string, Content[], number[]]>([
    ['nothing', [], []],
    ['a text', [text], [1]],
    ['calls with their responses, and the text', [call('f'), response('f'), text], [2, 3]],
    [
      'several calls that are answered apart',
      [call('f', 'g'), response('f'), response('g'), text],
      [3, 4],
    ],
    ['a call that never got its response', [text, call('f'), text, text], [1, 4]],
    ['a remark of the user', [call('f'), response('f'), remark, text], [3, 4]],
  ])('the blocks of an answer: %s', (_, contents, ends) => {
    expect(toBlocks(contents, { from: 0, counting }).map(({ end }) => end)).toEqual(ends);
  });

  test('an answer’s blocks do not count thoughts, which are not sent again', () => {
    const thought: Content = {
      role: 'model',
      parts: [{ text: 'long '.repeat(99), thought: true }],
    };

    expect(toBlocks([thought], { from: 0, counting })).toEqual([{ end: 1, tokens: 0 }]);
  });
});
