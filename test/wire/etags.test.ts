import { compactionRecordResponse } from '#shared/wire/resources/compaction.ts';
import {
  errorOf,
  startChatServer,
  createConversation,
  readAs,
} from '#test/support/chat/chat-server.ts';
import { history, writeHistories } from '../support/compaction/past-compactions.ts';
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';

const chat = await startChatServer();
afterAll(() => chat.stop());

/** A conversation of alice at generation 2. */
async function conversation() {
  const { id } = await createConversation(chat);
  await writeHistories(chat.dependencies.store, id, [history(1, 10_000), history(2, 20_000)]);
  return `/v1/conversations/${id}`;
}

const etagOf = async (path: string) => (await chat.call(path)).headers.get('etag') ?? '';

/** Every change that heeds If-Match. */
const changes = {
  PATCH: { path: '', method: 'PATCH', body: { title: 'new' } },
  DELETE: { path: '', method: 'DELETE' },
  'DELETE permanent': { path: '?permanent=true', method: 'DELETE' },
  ':restore': { path: ':restore', method: 'POST', body: { generation: 0 } },
  ':compact': { path: ':compact', method: 'POST', body: {} },
};

const change = (path: string, name: keyof typeof changes, ifMatch: string) => {
  const { path: suffix, ...call } = changes[name];
  return chat.call(`${path}${suffix}`, { ...call, headers: { 'if-match': ifMatch } });
};

const names = Object.keys(changes) as (keyof typeof changes)[];

describe.each(names)('If-Match with %s', (name) => {
  test('If-Match with the caller’s state lets the request through, and with an earlier one changes nothing', async () => {
    const path = await conversation();
    const earlier = await etagOf(path);
    await chat.call(path, { method: 'PATCH', body: { title: 'meanwhile' } });
    const before = await (await chat.call(path)).text();

    const refused = await errorOf(await change(path, name, earlier));

    expect(refused).toMatchObject({
      http: 412,
      status: 'FAILED_PRECONDITION',
      reason: 'ETAG_MISMATCH',
    });
    expect(await (await chat.call(path)).text()).toBe(before);
    expect((await change(path, name, `"x", ${await etagOf(path)}`)).ok).toBe(true);
  });
});

test.each(['nonsense', '""', '"g"', '"g99999999999"', 'W/"g2"', 'g2'])(
  'If-Match with %s is refused',
  async (tag) => {
    expect((await change(await conversation(), 'PATCH', tag)).status).toBe(412);
  },
);

test('If-Match reveals nothing to another user', async () => {
  const path = await conversation();
  const call = { method: 'PATCH', body: { title: 'new' }, headers: { 'if-match': '"g1"' } };

  const error = await errorOf(await chat.call(path, { ...call, uid: 'bob' }));

  expect(error).toMatchObject({ http: 404, reason: 'CONVERSATION_NOT_FOUND' });
});

test('a restore, a compaction request or a deletion that is repeated with its If-Match finds it done', async () => {
  const path = await conversation();
  const repeat = async (suffix: string, body?: object) => {
    const headers = { 'if-match': await etagOf(path) };
    const call = { method: body ? 'POST' : 'DELETE', body, headers };
    return [await chat.call(`${path}${suffix}`, call), await chat.call(`${path}${suffix}`, call)];
  };

  const restored = await repeat(':restore', { generation: 0, requestId: randomUUID() });
  const [first, second] = await Promise.all(
    restored.map((answer) => readAs(compactionRecordResponse, answer)),
  );
  const compacted = await repeat(':compact', { requestId: randomUUID() });
  const deleted = await repeat('');

  expect(first?.generation).toBe(3);
  expect(second).toEqual(first);
  expect([...compacted, ...deleted].map(({ status }) => status)).toEqual([202, 202, 200, 200]);
});

test('If-None-Match gives 304 without a body until the conversation or its compaction changes', async () => {
  const path = await conversation();
  const etag = await etagOf(path);
  const read = (tag = etag) => chat.call(path, { headers: { 'if-none-match': tag } });

  for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const response = await read(tag);
    expect([response.status, await response.text()]).toEqual([304, '']);
    expect(response.headers.get('etag')).toBe(etag);
  }
  await chat.call(`${path}:compact`, { body: {} });

  const changed = await read();
  expect(changed.status).toBe(200);
  expect(await changed.json()).toMatchObject({ context: { compaction: { state: 'QUEUED' } } });
});
