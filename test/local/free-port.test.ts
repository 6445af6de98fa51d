import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { chooseFreePort } from '#infra/local/processes/free-port.ts';
import { openServer } from '#infra/local/processes/open-server.ts';

test('the port search skips a port that is in use', async () => {
  const { port: taken, close } = await openServer(createServer());

  const chosen = await chooseFreePort(taken, new Set());
  await close();

  expect(chosen).toBeGreaterThan(taken);
});

test('the port search gives each part a port of its own', async () => {
  const reserved = new Set<number>();

  const chosen = [await chooseFreePort(0, reserved), await chooseFreePort(0, reserved)];

  expect(new Set(chosen).size).toBe(2);
  expect([...reserved]).toEqual(chosen);
});
