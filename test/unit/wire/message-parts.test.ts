import { expect, it } from 'vitest';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import { toOutputParts } from '#shared/wire/resources/message-parts.ts';

const call = (name: string): Part => ({ functionCall: { name, args: {} } });
const given = (name: string): Part => ({
  functionResponse: { name, response: { output: name } },
});

/** What the parts are called, calls with a `?` and responses with a `!`. */
const named = (contents: readonly Content[]) =>
  toOutputParts(17, contents).flatMap((part) => {
    if (part.type === 'functionCall') return [`${part.callId}?`];
    return part.type === 'functionResponse' ? [`${part.callId}!`] : [];
  });

it('a transcript names each call and its response as the stream did, over all rounds', () => {
  const contents: Content[] = [
    { role: 'model', parts: [{ text: 'I look.' }, call('locate'), call('locate')] },
    { role: 'user', parts: [given('locate'), given('locate')] },
    { role: 'model', parts: [call('choose')] },
    { role: 'user', parts: [given('choose')] },
    { role: 'model', parts: [{ text: 'Done.' }] },
  ];
  expect(named(contents)).toEqual([
    't_17_c0?',
    't_17_c1?',
    't_17_c0!',
    't_17_c1!',
    't_17_c2?',
    't_17_c2!',
  ]);
});

it('a transcript names a response by its place where an earlier call of the round is open', () => {
  const contents: Content[] = [
    { role: 'model', parts: [call('locate'), call('choose')] },
    { role: 'user', parts: [{ functionResponse: { name: 'locate' } }, given('choose')] },
  ];
  expect(named(contents)).toEqual(['t_17_c0?', 't_17_c1?', 't_17_c1!']);
});

it('a transcript shows a response without a call, under no name', () => {
  expect(toOutputParts(17, [{ role: 'user', parts: [given('locate')] }])).toEqual([
    { type: 'functionResponse', name: 'locate', response: { output: 'locate' } },
  ]);
});
