import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { conversationPath, statusPath } from '#shared/conversation/documents/paths.ts';
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
  test('the status document can be read by the conversation’s owner', async () => {
    const conversationId = await conversationOf('ann');

    const { status, body } = await read(statusPath(conversationId), asUser('ann'));

    expect(status).toBe(200);
    expect(body).toContain('8123');
  });

  test('the status document is hidden from another user', async () => {
    const conversationId = await conversationOf('ann');

    expect((await read(statusPath(conversationId), asUser('bob'))).status).toBe(403);
  });

  test('the status document is hidden from an anonymous guest who owns another conversation', async () => {
    const [hers, own] = [await conversationOf('ann'), await conversationOf('guest')];

    const readings = await Promise.all(
      [hers, own].map((id) => read(statusPath(id), asGuest('guest'))),
    );

    expect(readings.map(({ status }) => status)).toEqual([403, 200]);
  });

  test.each(['null', 'ann ', 'Ann', 'conversations/ann'])(
    'the status document is hidden from a user called %j',
    async (uid) => {
      const conversationId = await conversationOf('ann');

      expect((await read(statusPath(conversationId), asUser(uid))).status).toBe(403);
    },
  );

  test('the status document is hidden where the conversation document names no owner', async () => {
    const conversationId = randomUUID();
    await write(conversationPath(conversationId), { state: { stringValue: 'live' } }, asServer);
    await write(statusPath(conversationId), { tokens: { integerValue: '1' } }, asServer);

    expect((await read(statusPath(conversationId), asUser('ann'))).status).toBe(403);
    expect((await read(statusPath(conversationId))).status).toBe(403);
  });

  test('the owner cannot create a missing status document', async () => {
    const conversationId = randomUUID();
    const conversation = { ownerUid: { stringValue: 'ann' }, state: { stringValue: 'live' } };
    await write(conversationPath(conversationId), conversation, asServer);
    const fields = { tokens: { integerValue: '0' } };

    expect((await write(statusPath(conversationId), fields, asUser('ann'))).status).toBe(403);
    expect((await read(statusPath(conversationId), asServer)).status).toBe(404);
  });

  test('the status document is hidden from a caller without a token', async () => {
    const conversationId = await conversationOf('ann');

    expect((await read(statusPath(conversationId))).status).toBe(403);
  });

  test.each(['forking', 'deleted', 'erasing', 'erased'])(
    'the status document is hidden from the owner while the conversation is %s',
    async (state) => {
      const conversationId = await conversationOf('ann', state);

      expect((await read(statusPath(conversationId), asUser('ann'))).status).toBe(403);
    },
  );

  test('the status document is hidden when the conversation document is missing', async () => {
    const path = statusPath(randomUUID());
    await write(path, { tokens: { integerValue: '1' } }, asServer);

    expect((await read(path, asUser('ann'))).status).toBe(403);
  });

  test.each([
    { method: 'PATCH', body: { fields: { tokens: { integerValue: '0' } } } },
    { method: 'DELETE' },
  ])('the status document cannot be changed by its owner: $method', async ({ method, body }) => {
    const conversationId = await conversationOf('ann');
    const path = `v1/${root}/${statusPath(conversationId)}`;

    const { status } = await call(path, { method, body, token: asUser('ann') });

    expect(status).toBe(403);
    expect((await read(statusPath(conversationId), asServer)).body).toContain('8123');
  });
});
