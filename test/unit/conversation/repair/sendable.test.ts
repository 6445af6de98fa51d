import { describe, expect, test } from 'vitest';
import type { Content } from '#shared/conversation/documents/content.ts';
import { sendableContents } from '#shared/conversation/repair/sendable.ts';

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });

describe('what of a turn is sent again', () => {
  test('text stays', () => {
    expect(sendableContents([user('a')])).toEqual([user('a')]);
  });

  test('a content of which nothing goes stays the object that it was', () => {
    const whole = user('a');

    expect(sendableContents([whole])[0]).toBe(whole);
  });

  test('empty text goes, and a content left without parts with it', () => {
    expect(sendableContents([user('a'), { role: 'model', parts: [{ text: '' }] }])).toEqual([
      user('a'),
    ]);
  });

  test('a bare thought goes', () => {
    const contents: Content[] = [
      { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'b' }] },
    ];

    expect(sendableContents(contents)).toEqual([{ role: 'model', parts: [{ text: 'b' }] }]);
  });

  test('an empty text that carries a signature stays as it came', () => {
    const signed: Content = { role: 'model', parts: [{ text: '', thoughtSignature: 's' }] };

    expect(sendableContents([signed])).toEqual([signed]);
  });

  test('a call stays with its response', () => {
    const pair: Content[] = [
      { role: 'model', parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: 's' }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] },
    ];

    expect(sendableContents(pair)).toEqual(pair);
  });

  test('a call without response goes, and so does a response without call', () => {
    const contents: Content[] = [
      user('a'),
      { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'g', response: {} } }] },
    ];

    expect(sendableContents(contents)).toEqual([user('a')]);
  });
});
