import { EventEmitter } from 'node:events';
import { randomUUID } from 'node:crypto';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import { describe, expect, test } from 'vitest';
import { logUnhandledRejections } from '#functions/bootstrap/unhandled-rejections.ts';
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

describe('a promise that fails and that nobody waits for', () => {
  function listening() {
    const lines: unknown[] = [];
    const process = new EventEmitter();
    logUnhandledRejections(process, {
      log: (severity, event, fields) => void lines.push({ severity, event, ...fields }),
    });
    return { process, lines };
  }

  test('an unhandled rejection is logged without its message', () => {
    const { process, lines } = listening();

    process.emit('unhandledRejection', new TypeError('what a user wrote'));

    expect(lines).toMatchObject([
      { severity: 'ERROR', event: 'stray_rejection', error: 'TypeError' },
    ]);
    expect(JSON.stringify(lines)).not.toContain('what a user wrote');
  });

  test('an unhandled rejection does not reach a listener that would end the instance', async () => {
    const { process, lines } = listening();
    let reached = 0;

    process.on('unhandledRejection', () => (reached += 1));
    await settle();
    process.emit('unhandledRejection', 'a word');

    expect(reached).toBe(0);
    expect(lines).toMatchObject([{ error: 'string' }]);
  });
});
