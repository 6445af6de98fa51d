import { randomUUID } from 'node:crypto';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { describe, expect, test } from 'vitest';
import { disableNodeDomains } from '#functions/bootstrap/disable-node-domains.ts';
import { openForTest } from '#test/support/open-for-test.ts';
import { settle } from '#test/support/chat/streaming.ts';

type Handler = Parameters<typeof http>[1];

/** A function of the framework, with the URL at which it is served. */
async function serve(handler: Handler): Promise<string> {
  const target = `probe-${randomUUID()}`;
  http(target, handler);
  return `${(await openForTest(getTestServer(target))).url}/`;
}

const domainNow = () => Reflect.get(process, 'domain') ?? null;

describe('a request of the framework', () => {
  disableNodeDomains();

  test('a framework request is in no Node domain, behind an await either', async () => {
    const seen: unknown[] = [];
    const url = await serve(async (_, response) => {
      seen.push(domainNow());
      await settle();
      seen.push(domainNow());
      response.end();
    });

    await fetch(url);

    expect(seen).toEqual([null, null]);
  });

  test('a framework request whose handler throws is answered with 500', async () => {
    const url = await serve(() => Promise.reject(new Error('a defect')));

    expect((await fetch(url)).status).toBe(500);
  });
});
