import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { afterEach, expect, test } from 'vitest';
import { registerFunctions } from '../../functions/src/register.ts';
import { compactionBench } from '../support/compaction-dependencies.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serveCompaction(): Promise<string> {
  const server = getTestServer('compaction');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/`;
}

test('a function whose start failed once starts with the next request, and only once', async () => {
  let starts = 0;
  registerFunctions({
    chat: () => Promise.reject(new Error('not here')),
    compaction: () => {
      starts += 1;
      return starts === 1
        ? Promise.reject(new Error('the metadata server did not answer'))
        : Promise.resolve(compactionBench());
    },
  });
  const url = await serveCompaction();

  const statuses: number[] = [];
  for (let request = 0; request < 3; request++) statuses.push((await fetch(url)).status);

  expect(statuses).toEqual([500, 405, 405]);
  expect(starts).toBe(2);
});
