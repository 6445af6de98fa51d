import type { Repairs } from '#shared/models/repairs.ts';
import type { Content, Part } from '#shared/models/content.ts';
import type { LooseContent } from '#shared/conversation/repair/repair-contents.ts';
import {
  LOST_SIGNATURE,
  repairPrompt,
  OPENING,
} from '#shared/conversation/repair/repair-prompt.ts';
import { expect, test } from 'vitest';

const user = (...parts: Part[]): Content => ({ role: 'user', parts });
const model = (...parts: Part[]): Content => ({ role: 'model', parts });
const text = (words: string): Part => ({ text: words });
const call = (name: string, id?: string): Part => ({
  functionCall: { ...(id !== undefined && { id }), name, args: {} },
});
const response = (name: string, id?: string): Part => ({
  functionResponse: { ...(id !== undefined && { id }), name, response: {} },
});
const hi = user(text('hi'));

type Case = [what: string, given: LooseContent[], sent: Content[], repairs: Repairs];

test.each<Case>([
  ['nothing at all becomes a beginning', [], [OPENING], { opening: 1 }],
  [
    'a model that begins is given a reason',
    [model(text('a')), hi],
    [OPENING, model(text('a')), hi],
    { opening: 1 },
  ],
  [
    'of two payloads the call stays',
    [hi, model({ text: 'a', ...call('f') }), user(response('f'))],
    [hi, model(call('f')), user(response('f'))],
    { payload: 1 },
  ],
  [
    'a call without response goes',
    [hi, model(text('a'), call('f')), hi],
    [hi, model(text('a')), hi],
    { orphanCall: 1 },
  ],
  [
    'a response without call goes',
    [hi, model(text('a')), user(response('f'), text('b'))],
    [hi, model(text('a')), user(text('b'))],
    { orphanResponse: 1 },
  ],
  [
    'a response that came too late is none',
    [hi, model(call('f')), hi, model(text('a')), user(response('f'), text('b'))],
    [user(text('hi'), text('hi')), model(text('a')), user(text('b'))],
    { orphanCall: 1, orphanResponse: 1, joined: 1 },
  ],
  [
    'responses come in the order of the calls',
    [hi, model(call('f'), call('g')), user(response('g'), response('f'))],
    [hi, model(call('f'), call('g')), user(response('f'), response('g'))],
    { order: 1 },
  ],
  [
    'a response takes the id of its call',
    [hi, model(call('f', '1')), user(response('f', '2'))],
    [hi, model(call('f', '1')), user(response('f', '1'))],
    { id: 1 },
  ],
  [
    "a call on the side of the user is the model's",
    [user(text('hi'), call('f')), user(response('f'))],
    [hi, model(call('f')), user(response('f'))],
    { role: 1 },
  ],
  [
    'a name that no function can have',
    [hi, model(call('a b')), user(response('a b'))],
    [hi, model(call('a_b')), user(response('a_b'))],
    { name: 2 },
  ],
])('a prompt before it is sent: %s', (...[, contents, sent, repairs]) => {
  expect(repairPrompt({ model: 'gemini-2.5-flash', contents })).toEqual({
    contents: sent,
    repairs,
  });
});

test.each([
  ['gemini-3-pro-preview', LOST_SIGNATURE],
  ['models/gemini-3.8-flash', LOST_SIGNATURE],
  ['gemini-flash-latest', LOST_SIGNATURE],
  ['gemini-2.5-pro', undefined],
  ['gemini-1.5-pro', undefined],
  ['gemma-3-27b-it', undefined],
])('a prompt of the current turn gets lost signatures as %s needs them', (name, signature) => {
  const old = [hi, model(call('f')), user(response('f')), model(text('a'))];
  const present = [hi, model(call('f'), call('g')), user(response('f'), response('g'))];

  const { contents } = repairPrompt({ model: name, contents: [...old, ...present] });

  const signatures = contents.flatMap(({ parts }) => parts.map((part) => part.thoughtSignature));
  expect(signatures.filter((one) => one !== undefined)).toEqual(signature ? [signature] : []);
  expect(contents[5]?.parts[0]?.thoughtSignature).toBe(signature);
});
