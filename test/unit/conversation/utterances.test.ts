import { expect, test } from 'vitest';
import { readUtterances } from '#shared/conversation/utterances.ts';
import type { Content } from '#shared/models/content.ts';
import { foldedTurn } from '#test/support/compaction/said-turn.ts';

const said = (user: Content, contents: Content[]) =>
  readUtterances([{ ...foldedTurn(7, ''), user, contents }]).map(({ speaker, text }) => [
    speaker,
    text,
  ]);

const hello: Content = { role: 'user', parts: [{ text: 'hello' }] };

test('utterancesOf returns a call with arguments and its response’s values with names', () => {
  const functionCall = { name: 'find', args: { city: 'Lyon', nights: 2 } };
  const response = {
    output: 'two',
    rooms: [{ id: 'R-17', price: 80, isFree: true }],
    nights: [1, 2],
  };
  const contents: Content[] = [
    { role: 'model', parts: [{ functionCall }] },
    { role: 'user', parts: [{ functionResponse: { name: 'find', response } }] },
  ];

  expect(said(hello, contents).slice(1)).toEqual([
    ['call', 'find: {"city":"Lyon","nights":2}'],
    ['tool', 'two\nid: R-17\nprice: 80\nisFree: true\nnights: 1\nnights: 2'],
  ]);
});
