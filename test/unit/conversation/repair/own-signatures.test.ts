import type { ContextItem } from '#shared/conversation/context/assemble-context.ts';
import type { Content, Part } from '#shared/models/content.ts';
import { withOwnSignatures } from '#shared/conversation/repair/repair-prompt.ts';
import { expect, test } from 'vitest';

const call: Part = { functionCall: { name: 'find', args: {} } };
const signed = (part: Part): Part => ({ ...part, thoughtSignature: 's' });
const said = (...parts: Part[]): Content => ({ role: 'model', parts });
const item = (content: Content, signedBy?: string): ContextItem => ({
  kind: 'turn',
  seq: 1,
  content,
  ...(signedBy !== undefined && { signedBy }),
});

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
