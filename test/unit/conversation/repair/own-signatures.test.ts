import { describe, expect, test } from 'vitest';
import {
  assembleContext,
  assemblePrompt,
  type ContextItem,
} from '#shared/conversation/context/assemble-context.ts';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import {
  withOwnSignatures,
  withoutSignatures,
} from '#shared/conversation/repair/own-signatures.ts';

const call: Part = { functionCall: { name: 'find', args: {} } };
const signed = (part: Part): Part => ({ ...part, thoughtSignature: 's' });
const said = (...parts: Part[]): Content => ({ role: 'model', parts });
const item = (content: Content, signedBy?: string): ContextItem => ({
  kind: 'turn',
  seq: 1,
  content,
  ...(signedBy !== undefined && { signedBy }),
});

describe('what a model is sent of signed contents', () => {
  const whole = said(signed(call), { text: 'a' });

  const OWN = { signedBy: 'mine' };
  const OTHER = { signedBy: 'other' };

  test.each<[string, { signedBy?: string; content: Content; sent?: Content }]>([
    ['all of its own', { ...OWN, content: whole, sent: whole }],
    ['all of its own, by whichever name', { signedBy: 'models/mine', content: whole, sent: whole }],
    ['no signature of another', { ...OTHER, content: whole, sent: said(call, { text: 'a' }) }],
    ['no signature of nobody knows whom', { content: whole, sent: said(call, { text: 'a' }) }],
    [
      'nothing of an empty text of another',
      { ...OTHER, content: said({ text: 'a' }, signed({ text: '' })), sent: said({ text: 'a' }) },
    ],
    [
      'no thought of another',
      { ...OTHER, content: said(signed({ text: 'hm', thought: true }), call), sent: said(call) },
    ],
    ['nothing where nothing is left', { ...OTHER, content: said(signed({ text: '' })) }],
    ['what nobody has signed', { ...OTHER, content: said(call), sent: said(call) }],
  ])('the signed contents sent to a model are %s', (_, { signedBy, content, sent }) => {
    expect(withOwnSignatures([item(content, signedBy)], 'mine')).toEqual(sent ? [item(sent)] : []);
  });

  test('contents without foreign signatures are returned as the same object', () => {
    const unsigned = said(call);

    expect(withOwnSignatures([item(unsigned)], 'mine')[0]?.content).toBe(unsigned);
  });
});

test('removing signatures keeps the parts in their places', () => {
  const contents = [said(signed({ text: '' }), signed(call), call)];

  expect(withoutSignatures(contents)).toEqual([said({ text: '' }, call, call)]);
});

const turn = (seq: number, model: string) => ({
  seq,
  model,
  inContext: true,
  user: { role: 'user' as const, parts: [{ text: `Q${seq}` }] },
  contents: [
    said(signed(call)),
    {
      role: 'user' as const,
      parts: [{ functionResponse: { name: 'find', response: { a: 1 } } }],
    },
    said(signed({ text: `A${seq}` })),
  ],
});
const source = {
  model: 'auto',
  pins: [],
  history: undefined,
  coveredThrough: { seq: 0, contentIndex: 0 },
  turns: [turn(1, 'mine'), turn(2, 'other')],
};

test.each([
  ['mine', [1, 3]],
  ['other', [5, 7]],
  ['third', []],
  ['auto', []],
])('a prompt for %s has only that model’s signatures and needs no repair', (model, expected) => {
  const prompt = assemblePrompt({ ...source, model }, assembleContext(source));

  const places = prompt.contents.flatMap(({ parts }, index) =>
    parts.some(({ thoughtSignature }) => thoughtSignature !== undefined) ? [index] : [],
  );
  expect(places).toEqual(expected);
  expect(prompt.contents).toHaveLength(8);
  expect(prompt.repairs).toBeUndefined();
});
