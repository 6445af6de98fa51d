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
