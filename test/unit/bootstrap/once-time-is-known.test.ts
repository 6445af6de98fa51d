import { expect, test } from 'vitest';
import { onceTimeIsKnown } from '#functions/adapters/clocks.ts';
import { StoreUnavailableError } from '#shared/errors.ts';

test('a token is verified only once the time is known', async () => {
  const order: string[] = [];
  const verifier = onceTimeIsKnown(
    {
      verify: (token: string) => {
        order.push(`judged ${token}`);
        return Promise.resolve('alice');
      },
    },
    async () => {
      await Promise.resolve();
      order.push('heard');
    },
  );

  expect(await verifier.verify('t')).toBe('alice');
  expect(order).toEqual(['heard', 'judged t']);
});

test('a token is not refused for a machine’s clock while the database is silent', async () => {
  const verifier = onceTimeIsKnown({ verify: () => Promise.reject(new Error('expired')) }, () =>
    Promise.reject(new StoreUnavailableError({ operation: 'get' })),
  );

  await expect(verifier.verify('t')).rejects.toMatchObject({
    reason: 'STORE_UNAVAILABLE',
    retryable: true,
  });
});
