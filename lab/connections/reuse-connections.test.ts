import { createServer, type RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { openServer } from '#infra/local/processes/open-server.ts';
import { reuseConnections } from './reuse-connections.ts';

async function reuse(listener: RequestListener) {
  const { url, close } = await openServer(createServer(listener));
  onTestFinished(close);
  return reuseConnections({
    clients: 4,
    durationMs: 200,
    pauseMs: { from: 0, to: 10 },
    call: () => ({ url, headers: {}, body: '{}' }),
    lastWords: 'end',
  });
}

test('a server that keeps its connections shows no reset to clients that reuse them', async () => {
  const figures = await reuse((_, response) => response.end('the end'));

  expect(figures).toMatchObject({ resets: {}, incomplete: 0, reused: figures.requests - 4 });
});

test('a server that closes a connection under its second request is seen as resets', async () => {
  const seen = new WeakSet();
  const figures = await reuse(({ socket }, response) => {
    if (seen.has(socket)) socket.destroy();
    else response.end('the end');
    seen.add(socket);
  });

  expect(figures.resets['ECONNRESET']).toBe(figures.reused);
  expect(figures.reused).toBeGreaterThan(0);
});

test('an answer that lacks its end is counted as incomplete', async () => {
  const figures = await reuse((_, response) => response.end('the beginning'));

  expect(figures.incomplete).toBe(figures.requests);
});
