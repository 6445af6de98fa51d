import { describe, expect, test } from 'vitest';
import { compactionBench } from '#test/support/compaction/compaction-dependencies.ts';
import { buildDue, see } from '#test/support/compaction/compacted-conversation.ts';
import {
  post,
  pushOf,
  requestFor,
  serveInFramework,
  tokenRefused,
} from '#test/support/processes/pushing.ts';

describe('the worker in the framework', () => {
  const hostile: [string, RequestInit][] = [
    ['malformed JSON', { headers: { 'content-type': 'application/json' }, body: '{"mess' }],
    [
      'a body of a megabyte',
      { headers: { 'content-type': 'application/json' }, body: `"${'x'.repeat(1_000_000)}"` },
    ],
    [
      'an encoding that it is not in',
      {
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: 'no gzip',
      },
    ],
    [
      'an unknown charset',
      { headers: { 'content-type': 'application/json; charset=x' }, body: '{}' },
    ],
    ['a form', { body: new URLSearchParams({ a: 'b' }) }],
  ];

  test.each(hostile)(
    'the worker in the framework answers %s of a stranger with 401 in JSON',
    async (_, request) => {
      const bench = compactionBench({ pushTokens: { verify: () => Promise.reject(tokenRefused) } });
      const url = await serveInFramework(bench);

      const response = await fetch(url, { method: 'POST', ...request });

      expect(response.status).toBe(401);
      expect(response.headers.get('content-type')).toContain('application/json');
      expect(await response.json()).toMatchObject({
        error: { details: [{ reason: 'PUSH_TOKEN_INVALID' }] },
      });
    },
  );

  test.each(hostile)(
    'the worker in the framework acknowledges and logs %s of Pub/Sub',
    async (_, request) => {
      const bench = compactionBench();

      const response = await fetch(await serveInFramework(bench), { method: 'POST', ...request });

      expect([response.status, await response.text()]).toEqual([204, '']);
      expect(bench.logged).toMatchObject([{ event: 'compaction_push_malformed' }]);
    },
  );

  test('the worker in the framework answers an undecodable address in JSON', async () => {
    const response = await fetch(`${await serveInFramework(compactionBench())}%ff`);

    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({ error: { code: 405 } });
  });

  test('the worker in the framework stops reading an unannounced body at its limit', async () => {
    const bench = compactionBench();
    const url = await serveInFramework(bench);
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        controller.enqueue(new Uint8Array(16 * 1_024));
      },
    });
    const stop = new AbortController();
    const request: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      body: endless,
      duplex: 'half',
      signal: stop.signal,
    };

    const answered = fetch(url, request).catch(() => undefined);

    await expect.poll(() => bench.logged).toMatchObject([{ event: 'compaction_push_malformed' }]);
    stop.abort();
    await answered;
  });

  test('the worker in the framework compacts and acknowledges', async () => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);

    const response = await post(await serveInFramework(bench), pushOf(requestFor(conversationId)));

    expect(response.status).toBe(204);
    expect((await see(bench.store, conversationId)).conversation.generation).toBe(1);
  });
});
