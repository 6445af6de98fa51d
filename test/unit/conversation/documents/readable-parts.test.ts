import { readableParts, type Content, type Part } from '#shared/conversation/documents/content.ts';
import { describe, expect, test } from 'vitest';

const model = (...parts: Part[]): Content => ({ role: 'model', parts });
const picture = { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } };
const call = { functionCall: { name: 'look', args: {} } };
const signed = (text: string): Part => ({ text, thoughtSignature: 'c2ln' });

describe('the readable parts of a content', () => {
  test.each<[string, Content, Part[]]>([
    [
      'signed pieces of one word',
      model({ text: 'QX-' }, signed('77'), { text: '19.' }),
      [{ text: 'QX-7719.' }],
    ],
    [
      'thoughts and lone signatures within a word',
      model(
        { text: 'QX-' },
        { text: 'hm', thought: true },
        signed(''),
        { thoughtSignature: 'c2ln' },
        signed('77'),
      ),
      [{ text: 'QX-77' }],
    ],
    [
      'a blank piece between words',
      model({ text: 'two' }, signed(' '), { text: 'words' }),
      [{ text: 'two words' }],
    ],
    [
      'text around a picture and a call',
      model({ text: 'a' }, picture, signed('b'), { text: 'c' }, call, { text: 'd' }),
      [{ text: 'a' }, picture, { text: 'bc' }, call, { text: 'd' }],
    ],
    [
      'what a user sent in parts',
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }, { text: '' }] },
      [{ text: 'a' }, { text: 'b' }],
    ],
  ])('read %s as people do', (_, content, expected) => {
    expect(readableParts(content)).toEqual(expected);
  });
});
