import { sanitizeHistory } from '#shared/compaction/summariser-input.ts';
import type { Content, Part } from '#shared/models/content.ts';
import { expect, test } from 'vitest';

const user = (...parts: Part[]): Content => ({ role: 'user', parts });
const model = (...parts: Part[]): Content => ({ role: 'model', parts });
const text = (words: string): Part => ({ text: words });
const call = (name: string, id?: string): Part => ({
  functionCall: id === undefined ? { name, args: {} } : { id, name, args: {} },
});
const response = (name: string, id?: string): Part => ({
  functionResponse: id === undefined ? { name, response: {} } : { id, name, response: {} },
});

test.each<[string, Content[], Content[]]>([
  [
    'drops empty text and joins the neighbours that meet',
    [user(text('a')), model(text(' ')), user(text('b'))],
    [user(text('a'), text('b'))],
  ],
  [
    'drops thoughts and signatures',
    [model({ text: 'hm', thought: true }, { text: 'a', thoughtSignature: 's' })],
    [model(text('a'))],
  ],
  [
    'keeps calls with their responses, by id',
    [model(call('f', '1'), call('f', '2')), user(response('f', '2'), response('f', '1'))],
    [model(call('f', '1'), call('f', '2')), user(response('f', '1'), response('f', '2'))],
  ],
  [
    'puts responses before what the user wrote meanwhile, in a content of their own',
    [model(call('f')), user(text('b')), user(response('f'))],
    [model(call('f')), user(response('f')), user(text('b'))],
  ],
  [
    'tells a call without response',
    [model(call('f')), user(text('b'))],
    [model(text('[The tool f was called with {}; no result is recorded.]')), user(text('b'))],
  ],
  [
    'tells a response without call',
    [user(response('f'))],
    [user(text('[The tool f returned {}; its call is not recorded.]'))],
  ],
])('sanitising a history: %s', (_, contents, expected) => {
  expect(sanitizeHistory(contents)).toEqual(expected);
});
