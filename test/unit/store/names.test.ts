import fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8Length } from '#shared/store/names.ts';

test('utf8Length counts the bytes that an encoder makes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(utf8Length(text)).toBe(Buffer.byteLength(text));
    }),
  );
});

test.each(['', 'a', '\u007F', '\u0080', '\u07FF', '\u0800', '\uD7FF', '\uE000', '\uFFFF', '😀'])(
  'utf8Length is right at the border %j',
  (text) => {
    expect(utf8Length(text)).toBe(Buffer.byteLength(text));
  },
);
