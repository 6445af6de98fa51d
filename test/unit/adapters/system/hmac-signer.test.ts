import { expect, test } from 'vitest';
import { createHmacSigner } from '#functions/adapters/hmac-signer.ts';

test('the signer computes HMAC-SHA-256 as in RFC 4231', () => {
  const mac = createHmacSigner('Jefe').sign('what do ya want for nothing?');

  expect(Buffer.from(mac, 'base64').toString('hex')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test.each([
  ['another payload', 'y', createHmacSigner('a').sign('x')],
  ['a signature of another length', 'x', 'AA=='],
  ['a signature by another key', 'x', createHmacSigner('b').sign('x')],
])('the signer rejects %s', (_, payload, signature) => {
  expect(createHmacSigner('a').isValid(payload, signature)).toBe(false);
});
