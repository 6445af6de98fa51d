import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as openRequest,
  type RequestListener,
} from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { startHttpFront } from '../http-front.ts';
import { createRandom } from '../random.ts';
import { startReplyLosingProxy } from '../reply-losing-proxy.ts';
import { openForTest } from '#test/support/open-for-test.ts';
import { openServer } from '#infra/local/processes/open-server.ts';

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).toReversed()) await close();
});

const serve = (listener: RequestListener) => openForTest(createServer(listener));

const saying = (name: string) =>
  serve((request, response) => {
    void text(request).then((body) => response.end(`${name} ${request.method} ${body}`));
  });

async function front(ports: readonly number[]) {
  const started = await startHttpFront(ports);
  closings.push(() => started.stop());
  return started;
}

const post = async (url: string) => (await fetch(url, { method: 'POST', body: 'hello' })).text();

/** A port where nobody listens any more. */
async function closedPort(): Promise<number> {
  const { port, close } = await openServer(createServer());
  await close();
  return port;
}

describe('the front of several processes', () => {
  test('asks them in turn', async () => {
    const [one, two] = [await saying('one'), await saying('two')];
    const { url } = await front([one.port, two.port]);

    const answers = [await post(url), await post(url), await post(url)];

    expect(answers).toEqual(['one POST hello', 'two POST hello', 'one POST hello']);
  });

  test('passes over one that is down', async () => {
    const up = await saying('up');
    const { url } = await front([await closedPort(), up.port]);

    expect([await post(url), await post(url)]).toEqual(['up POST hello', 'up POST hello']);
  });

  test('answers 503 when all are down', async () => {
    const { url } = await front([await closedPort()]);

    expect((await fetch(url)).status).toBe(503);
  });

  test('cuts an answer whose process dies in the midst of it', async () => {
    const dying = await serve((_, response) => {
      response.write('half of an', () => response.destroy());
    });
    const { url } = await front([dying.port]);

    const response = await fetch(url);

    await expect(response.text()).rejects.toThrow('terminated');
  });
});

describe('the proxy that loses replies', () => {
  test('lets a request through and its reply not', async () => {
    const arrived: string[] = [];
    const target = await serve((request, response) => {
      arrived.push(request.url ?? '');
      response.end('done');
    });
    const proxy = await startReplyLosingProxy(target.host);
    closings.push(() => proxy.stop());
    // One connection for all requests, as gRPC has it.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async (path: string) => {
      const request = openRequest(`http://${proxy.host}${path}`, { agent, method: 'POST' });
      const response = once(request, 'response');
      request.end('x'.repeat(200));
      const [message] = (await response) as [IncomingMessage];
      return text(message);
    };
    expect(await ask('/first')).toBe('done');

    proxy.loseReply(createRandom(1));

    await expect(ask('/second')).rejects.toThrow('socket hang up');
    expect(arrived).toEqual(['/first', '/second']);
    expect(proxy.lostCount()).toBe(1);
    expect(await ask('/third')).toBe('done');
    agent.destroy();
  });

  test('lets nothing through while it stands still, and all of it afterwards', async () => {
    const arrived: string[] = [];
    const target = await serve((request, response) => {
      arrived.push(request.url ?? '');
      response.end('done');
    });
    const proxy = await startReplyLosingProxy(target.host);
    closings.push(() => proxy.stop());
    const ask = async (path: string) => (await fetch(`http://${proxy.host}${path}`)).text();
    const goOn = proxy.standStill();

    const asked = ask('/first');
    // Past the proxy, and so later than a request that it had let through.
    await (await fetch(`http://${target.host}/past`)).text();
    const arrivedMeanwhile = [...arrived];
    goOn();

    expect(await asked).toBe('done');
    expect(arrivedMeanwhile).toEqual(['/past']);
    expect(arrived).toEqual(['/past', '/first']);
  });
});
