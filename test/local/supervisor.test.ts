import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startStack } from '#infra/local/stack/start-stack.ts';
import { type Stack } from '#infra/local/stack/stack-children.ts';
import { startSupervisor, type Supervisor } from '#infra/local/supervisor/start-supervisor.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { compactionListResponse } from '#shared/wire/resources/compaction.ts';
import { eventually } from '../support/eventually.ts';

const page = 'http://127.0.0.1:4321';

let stack: Stack;
let supervisor: Supervisor;
beforeAll(async () => {
  stack = await startStack({
    embedded: true,
    shell: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    environment: { THRESHOLD_TOKENS: '1500' },
    log: () => undefined,
  });
  supervisor = await startSupervisor({ stack, pageOrigins: [page], log: () => undefined });
});
afterAll(async () => {
  await supervisor.stop();
  await stack.stop();
});

async function order(path: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${supervisor.url}${path}`, {
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'x-recap-supervisor-token': supervisor.token, ...headers },
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: z.record(z.string(), z.unknown()).parse(JSON.parse(text || '{}')),
  };
}

/** Node's fetch lets nobody choose the Host header. */
async function statusWithHost(host: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  httpRequest(`${supervisor.url}/state`, {
    headers: { host, 'x-recap-supervisor-token': supervisor.token },
  })
    .once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    })
    .once('error', reject)
    .end();
  return promise;
}

const bearer = unsignedTokenOf('ada');
function unsignedTokenOf(uid: string) {
  return `Bearer ${unsignedToken({ uid, projectId: 'demo-recap', now: new Date() })}`;
}

const send = (
  chatUrl: string,
  message: { conversationId: string; text: string; accept?: string },
) =>
  fetch(`${chatUrl}/v1/conversations/${message.conversationId}/messages`, {
    method: 'POST',
    headers: { authorization: bearer, accept: message.accept ?? 'application/json' },
    body: JSON.stringify({
      message: { id: randomUUID(), parts: [{ type: 'text', text: message.text }] },
    }),
  });

const callsSchema = z.object({
  calls: z.array(z.looseObject({ n: z.number(), role: z.string(), fault: z.string().optional() })),
});
async function chatCallsAfter(n: number) {
  const { calls } = callsSchema.parse((await order(`/model/calls?after=${n}`)).body);
  return calls.filter(({ role }) => role === 'chat');
}
const lastCall = async () =>
  callsSchema.parse((await order('/model/calls')).body).calls.at(-1)?.n ?? 0;

describe('the callers of the supervisor', () => {
  test.each([
    ['no token', ''],
    ['a wrong token', 'x'.repeat(43)],
    ['a longer token', 'longer'],
  ])('the supervisor refuses %s with 403', async (_case, token) => {
    const given = token === 'longer' ? `${supervisor.token}x` : token;

    const { status } = await order('/cut', {}, { 'x-recap-supervisor-token': given });

    expect(status).toBe(403);
  });

  test.each(['evil.example', 'evil.example:80', '192.168.1.4', '127.0.0.1', '127.0.0.1.nip.io'])(
    'the supervisor refuses the host %s with 403, whatever the token',
    async (host) => {
      expect(await statusWithHost(host)).toBe(403);
    },
  );

  test.each(['127.0.0.1', 'localhost', '[::1]'])(
    'the supervisor accepts the host %s as this machine',
    async (name) => {
      expect(await statusWithHost(`${name}:${new URL(supervisor.url).port}`)).toBe(200);
    },
  );

  test('the supervisor refuses a page of another origin without CORS headers', async () => {
    const { status, headers } = await order('/state', undefined, { origin: 'http://evil.example' });

    expect(status).toBe(403);
    expect(headers.get('access-control-allow-origin')).toBeNull();
  });

  test('the supervisor answers its own page’s preflight without a token', async () => {
    const preflight = await fetch(`${supervisor.url}/cut`, {
      method: 'OPTIONS',
      headers: { origin: page, 'access-control-request-method': 'POST' },
    });

    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(page);
    expect(preflight.headers.get('access-control-allow-headers')).toContain(
      'x-recap-supervisor-token',
    );
  });
});

describe('the faults', () => {
  beforeEach(() => order('/reset', {}));

  test('a fault with a wrong field is refused by that field', async () => {
    const { status, body } = await order('/model/faults', { kind: 'quota', times: 99, of: 'chat' });

    expect(status).toBe(400);
    expect(body['problem']).toContain('times');
  });

  test('two ordered refusals of the model hit one message, which the third try answers', async () => {
    const before = await lastCall();
    await order('/model/faults', { kind: 'quota', times: 2, of: 'chat' });

    const answered = await send(stack.chatUrl, { conversationId: randomUUID(), text: 'Hello.' });
    await answered.arrayBuffer();

    expect(answered.status).toBe(200);
    const calls = await chatCallsAfter(before);
    expect(calls.map(({ fault }) => fault)).toEqual(['quota', 'quota', undefined]);
  });

  test('the supervisor refuses faults over the maximum number of waiting ones', async () => {
    const ordered = { kind: 'safety', times: 10, of: 'chat' };
    await order('/model/faults', ordered);
    await order('/model/faults', ordered);

    const { status } = await order('/model/faults', { ...ordered, times: 1 });

    expect(status).toBe(409);
  });

  test('a cut-line fault breaks one stream before its end and hits the next request', async () => {
    const conversationId = randomUUID();
    const told = `The roses for the wedding are ${'red and white and yellow and '.repeat(10)}pink.`;
    await (await send(stack.chatUrl, { conversationId, text: told })).arrayBuffer();
    await order('/model/timing', { tokensPerSecond: 5 });
    const text = 'What are the roses for the wedding?';
    const message = { conversationId, text, accept: 'text/event-stream' };
    const response = await send(supervisor.chatUrl, message);
    const read: string[] = [];
    const reading = (async () => {
      for await (const piece of response.body ?? []) {
        read.push(Buffer.from(piece).toString());
        if (read.length === 1) await order('/cut', {});
      }
    })();

    await expect(reading).rejects.toThrow('terminated');
    expect(read.join('')).not.toContain('[DONE]');
    expect((await fetch(`${supervisor.chatUrl}/v1/health`)).status).toBe(200);
  });

  test('the supervisor’s state shows armed faults, and a reset removes them', async () => {
    await order('/model/faults', { kind: 'unavailable', times: 3, of: 'summariser' });
    await order('/model/vices', { inventive: true });
    const armed = await order('/state');

    await order('/reset', {});

    expect(armed.body['model']).toMatchObject({ waitingFaults: 3, vices: { inventive: true } });
    expect((await order('/state')).body['model']).toMatchObject({ waitingFaults: 0, vices: {} });
  });

  test('an event that the supervisor delivers three more times compacts nothing twice', async () => {
    const conversationId = randomUUID();
    for (let i = 0; i < 9; i++)
      await send(stack.chatUrl, {
        conversationId,
        text: `Order ${i} is for door ${i + 30}. ${'It is roses and more roses. '.repeat(30)}`,
      });
    const compactions = async () => {
      const response = await fetch(
        `${stack.chatUrl}/v1/conversations/${conversationId}/compactions`,
        { headers: { authorization: bearer } },
      );
      return compactionListResponse.parse(await response.json()).compactions;
    };
    const [first] = await eventually('a compaction', async () => {
      const done = await compactions();
      return done.some(({ state }) => state === 'COMPACTED') ? done : undefined;
    });

    const { body } = await order('/redeliver', {
      conversationId,
      requestId: first?.jobId ?? '',
      times: 3,
    });

    expect(body['statuses']).toEqual([204, 204, 204]);
    expect((await compactions()).filter(({ jobId }) => jobId === first?.jobId)).toHaveLength(1);
  });

  test('the supervisor refuses a kill that would lose the store', async () => {
    const { status, body } = await order('/kill', { part: 'compaction' });

    expect(status).toBe(409);
    expect(body['problem']).toContain('store');
  });
});
