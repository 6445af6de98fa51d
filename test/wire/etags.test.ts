import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { compactionRecordResponse } from '#shared/wire/resources/compaction.ts';
import { errorOf, startChatServer } from '../support/chat/chat-server.ts';
import { createConversation, readAs } from '../support/chat/http-answers.ts';
import { history, writeHistories } from '../support/compaction/past-compactions.ts';

const chat = await startChatServer();
afterAll(() => chat.stop());

/** A conversation of alice at generation 2. */
async function conversation() {
  const { id } = await createConversation(chat);
  await writeHistories(chat.dependencies.store, id, [history(1, 10_000), history(2, 20_000)]);
  return `/v1/conversations/${id}`;
}

const etagOf = async (path: string) => (await chat.call(path)).headers.get('etag') ?? '';

/** Every change that heeds If-Match, on a conversation of its own. */
const changes = [
  ['PATCH', (path: string) => ({ path, method: 'PATCH', body: { title: 'new' } })],
  ['DELETE', (path: string) => ({ path, method: 'DELETE', body: undefined })],
  [
    'DELETE permanent',
    (path: string) => ({ path: `${path}?permanent=true`, method: 'DELETE', body: undefined }),
  ],
  [
    ':restore',
    (path: string) => ({ path: `${path}:restore`, method: 'POST', body: { generation: 0 } }),
  ],
  [':compact', (path: string) => ({ path: `${path}:compact`, method: 'POST', body: {} })],
] as const;
type Change = (typeof changes)[number][1];

const send = (path: string, change: Change, ifMatch: string) => {
  const { path: target, ...call } = change(path);
  return chat.call(target, { ...call, headers: { 'if-match': ifMatch } });
};

describe.each(changes)('If-Match with %s', (_, change) => {
  test('If-Match with the current state lets the request through', async () => {
    const path = await conversation();

    expect((await send(path, change, await etagOf(path))).ok).toBe(true);
  });

  test('If-Match with an earlier state gives 412 and changes nothing', async () => {
    const path = await conversation();
    const etag = await etagOf(path);
    await chat.call(path, { method: 'PATCH', body: { title: 'meanwhile' } });
    const before = await (await chat.call(path)).text();

    const response = await send(path, change, etag);

    const refused = { http: 412, status: 'FAILED_PRECONDITION', reason: 'ETAG_MISMATCH' };
    expect(await errorOf(response)).toMatchObject(refused);
    expect(await (await chat.call(path)).text()).toBe(before);
  });

  test('If-Match accepts the current generation and refuses another', async () => {
    const path = await conversation();
    await chat.call(path, { method: 'PATCH', body: { title: 'meanwhile' } });

    const other = await errorOf(await send(path, change, '"g1"'));

    const reason = 'GENERATION_MISMATCH';
    expect(other).toMatchObject({ http: 412, reason, metadata: { generation: '2' } });
    expect((await send(path, change, '"g2"')).ok).toBe(true);
  });

  test('If-Match with * or with one of several states lets the request through', async () => {
    const [any, several] = [await conversation(), await conversation()];

    expect((await send(any, change, '*')).ok).toBe(true);
    expect((await send(several, change, `"x", ${await etagOf(several)}`)).ok).toBe(true);
  });

  test.each(['nonsense', '""', '"g"', '"g99999999999"', 'W/"g2"', 'g2'])(
    'If-Match with %s is refused',
    async (tag) => {
      expect((await send(await conversation(), change, tag)).status).toBe(412);
    },
  );

  test('If-Match reveals nothing to another user', async () => {
    const path = await conversation();

    const { path: target, ...call } = change(path);
    const headers = { 'if-match': '"g1"' };

    const response = await chat.call(target, { ...call, headers, uid: 'bob' });

    const reason = 'CONVERSATION_NOT_FOUND';
    expect(await errorOf(response)).toMatchObject({ http: 404, reason });
  });
});

describe('a request that is repeated with its If-Match', () => {
  test('a repeated restore with its If-Match finds it done', async () => {
    const path = await conversation();
    const body = { generation: 0, requestId: randomUUID() };
    const headers = { 'if-match': await etagOf(path) };

    const answers = [
      await chat.call(`${path}:restore`, { body, headers }),
      await chat.call(`${path}:restore`, { body, headers }),
    ];

    const [first, second] = await Promise.all(
      answers.map((answer) => readAs(compactionRecordResponse, answer)),
    );
    expect(first?.generation).toBe(3);
    expect(second).toEqual(first);
  });

  test('a repeated compaction request or deletion with its If-Match finds it done', async () => {
    const path = await conversation();
    const headers = { 'if-match': await etagOf(path) };
    const body = { requestId: randomUUID() };
    const compact = () => chat.call(`${path}:compact`, { body, headers });
    const statuses = [(await compact()).status, (await compact()).status];
    const ifMatch = { 'if-match': await etagOf(path) };
    const remove = () => chat.call(path, { method: 'DELETE', headers: ifMatch });

    statuses.push((await remove()).status, (await remove()).status);

    expect(statuses).toEqual([202, 202, 200, 200]);
  });
});

describe('If-None-Match', () => {
  const read = (path: string, tag: string) =>
    chat.call(path, { headers: { 'if-none-match': tag } });

  test('If-None-Match with the caller’s state gives 304 without a body', async () => {
    const path = await conversation();
    const etag = await etagOf(path);

    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const response = await read(path, tag);
      expect([response.status, await response.text()]).toEqual([304, '']);
      expect(response.headers.get('etag')).toBe(etag);
    }
  });

  test('If-None-Match with an earlier state returns the conversation', async () => {
    const path = await conversation();
    const etag = await etagOf(path);
    await chat.call(path, { method: 'PATCH', body: { title: 'new' } });

    const response = await read(path, etag);

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ title: 'new' });
  });

  test('If-None-Match notices a compaction that has begun', async () => {
    const path = await conversation();
    const etag = await etagOf(path);
    await chat.call(`${path}:compact`, { body: {} });

    const response = await read(path, etag);

    expect(await response.json()).toMatchObject({ context: { compaction: { state: 'QUEUED' } } });
  });
});
