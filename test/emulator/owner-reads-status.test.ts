import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { headPath, statusPath } from '#shared/conversation/documents/paths.ts';
import {
  asGuest,
  asServer,
  asUser,
  call,
  conversationOf,
  enforceRules,
  read,
  root,
  write,
} from '../support/processes/firestore-rules.ts';

beforeAll(enforceRules);

describe('S19: the status document', () => {
  test('is read by the owner of the conversation', async () => {
    const conversationId = await conversationOf('ann');

    const { status, body } = await read(statusPath(conversationId), asUser('ann'));

    expect(status).toBe(200);
    expect(body).toContain('8123');
  });

  test('is hidden from another user', async () => {
    const conversationId = await conversationOf('ann');

    expect((await read(statusPath(conversationId), asUser('bob'))).status).toBe(403);
  });

  test('is hidden from a guest who is signed in without a name and owns another one', async () => {
    const [hers, own] = [await conversationOf('ann'), await conversationOf('guest')];

    const readings = await Promise.all(
      [hers, own].map((id) => read(statusPath(id), asGuest('guest'))),
    );

    expect(readings.map(({ status }) => status)).toEqual([403, 200]);
  });

  test.each(['null', 'ann ', 'Ann', 'conversations/ann'])(
    'is hidden from a user called %j',
    async (uid) => {
      const conversationId = await conversationOf('ann');

      expect((await read(statusPath(conversationId), asUser(uid))).status).toBe(403);
    },
  );

  test('is hidden where the head names no owner', async () => {
    const conversationId = randomUUID();
    await write(headPath(conversationId), { state: { stringValue: 'live' } }, asServer);
    await write(statusPath(conversationId), { tokens: { integerValue: '1' } }, asServer);

    expect((await read(statusPath(conversationId), asUser('ann'))).status).toBe(403);
    expect((await read(statusPath(conversationId))).status).toBe(403);
  });

  test('is not made by the owner where there is none', async () => {
    const conversationId = randomUUID();
    const head = { ownerUid: { stringValue: 'ann' }, state: { stringValue: 'live' } };
    await write(headPath(conversationId), head, asServer);
    const fields = { tokens: { integerValue: '0' } };

    expect((await write(statusPath(conversationId), fields, asUser('ann'))).status).toBe(403);
    expect((await read(statusPath(conversationId), asServer)).status).toBe(404);
  });

  test('is hidden from a caller without a token', async () => {
    const conversationId = await conversationOf('ann');

    expect((await read(statusPath(conversationId))).status).toBe(403);
  });

  test.each(['forking', 'deleted', 'erasing', 'erased'])(
    'is hidden from the owner while the conversation is %s',
    async (state) => {
      const conversationId = await conversationOf('ann', state);

      expect((await read(statusPath(conversationId), asUser('ann'))).status).toBe(403);
    },
  );

  test('is hidden when the conversation has no head', async () => {
    const path = statusPath(randomUUID());
    await write(path, { tokens: { integerValue: '1' } }, asServer);

    expect((await read(path, asUser('ann'))).status).toBe(403);
  });

  test.each([
    { method: 'PATCH', body: { fields: { tokens: { integerValue: '0' } } } },
    { method: 'DELETE' },
  ])('is not changed by its owner: $method', async ({ method, body }) => {
    const conversationId = await conversationOf('ann');
    const path = `v1/${root}/${statusPath(conversationId)}`;

    const { status } = await call(path, { method, body, token: asUser('ann') });

    expect(status).toBe(403);
    expect((await read(statusPath(conversationId), asServer)).body).toContain('8123');
  });
});
