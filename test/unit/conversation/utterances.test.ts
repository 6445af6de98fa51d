import { describe, expect, test } from 'vitest';
import { readUtterances } from '#shared/conversation/utterances.ts';
import type { Content } from '#shared/models/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

const at = new Date('2026-11-21T10:00:00Z');

const turn = (user: Content, contents: Content[]): Turn => ({
  schemaVersion: 1,
  seq: 7,
  messageId: 'm7',
  state: 'done',
  attempt: 1,
  producer: 'p',
  leaseUntil: at,
  createTime: at,
  tokens: { user: 1, answer: 1 },
  inContext: true,
  user,
  contents,
});

const said = (user: Content, contents: Content[]) =>
  readUtterances([turn(user, contents)]).map(({ speaker, text }) => [speaker, text]);

const hello: Content = { role: 'user', parts: [{ text: 'hello' }] };

describe('utterancesOf', () => {
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
});
