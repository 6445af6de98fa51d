import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { chooseFreePort } from '../../infra/local/free-port.ts';

test('passes over a port that somebody listens on', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  const taken = typeof address === 'object' && address ? address.port : 0;

  const chosen = await chooseFreePort(taken, new Set());
  server.close();

  expect(chosen).toBeGreaterThan(taken);
});

test('gives each part a port of its own', async () => {
  const reserved = new Set<number>();

  const chosen = [await chooseFreePort(0, reserved), await chooseFreePort(0, reserved)];

  expect(new Set(chosen).size).toBe(2);
  expect([...reserved]).toEqual(chosen);
});
