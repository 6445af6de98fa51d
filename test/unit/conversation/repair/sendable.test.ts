import { describe, expect, test } from 'vitest';
import type { Content } from '#shared/conversation/documents/content.ts';
import { sendableTurn } from '#shared/conversation/repair/sendable.ts';

const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });

describe('the parts of a turn that are sent again', () => {
  test('text of a turn is sent again', () => {
    expect(sendableTurn([user('a')]).contents).toEqual([user('a')]);
  });

  test('a content that loses nothing is returned as the same object', () => {
    const whole = user('a');

    expect(sendableTurn([whole]).contents[0]).toBe(whole);
  });

  test('empty text is not sent again, nor a content without other parts', () => {
    expect(sendableTurn([user('a'), { role: 'model', parts: [{ text: '' }] }]).contents).toEqual([
      user('a'),
    ]);
  });

  test('a bare thought is not sent again', () => {
    const contents: Content[] = [
      { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'b' }] },
    ];

    expect(sendableTurn(contents).contents).toEqual([{ role: 'model', parts: [{ text: 'b' }] }]);
  });

  test('an empty text with a signature is sent again unchanged', () => {
    const signed: Content = { role: 'model', parts: [{ text: '', thoughtSignature: 's' }] };

    expect(sendableTurn([signed]).contents).toEqual([signed]);
  });

  test('a call is sent again with its response', () => {
    const pair: Content[] = [
      { role: 'model', parts: [{ functionCall: { name: 'f', args: {} }, thoughtSignature: 's' }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: {} } }] },
    ];

    expect(sendableTurn(pair).contents).toEqual(pair);
  });

  test('a call without response is not sent again, nor a response without call', () => {
    const contents: Content[] = [
      user('a'),
      { role: 'model', parts: [{ functionCall: { name: 'f' } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'g', response: {} } }] },
    ];

    expect(sendableTurn(contents).contents).toEqual([user('a')]);
  });
});
