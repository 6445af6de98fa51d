import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { unsignedToken } from '../../infra/local/unsigned-token.ts';
import {
  compactionJobPath,
  headPath,
  historyPath,
  messageGuardPath,
  statusPath,
  turnPath,
} from '../../shared/conversation/paths.ts';
import { demoProjectId, firestoreEmulatorHost } from '../support/emulator-environment.ts';

/** Rules belong to a project: a project of its own keeps them away from every other test. */
const projectId = demoProjectId();
const root = `projects/${projectId}/databases/(default)/documents`;
const host = firestoreEmulatorHost();

const asServer = 'owner';
const asUser = (uid: string) => unsignedToken({ uid, projectId, now: new Date() });

async function call(path: string, request: { token?: string; method?: string; body?: unknown }) {
  const response = await fetch(`http://${host}/${path}`, {
    method: request.method ?? 'GET',
    headers: {
      'content-type': 'application/json',
      ...(request.token !== undefined && { authorization: `Bearer ${request.token}` }),
    },
    ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
  });
  return { status: response.status, body: await response.text() };
}

const read = (path: string, token?: string) => call(`v1/${root}/${path}`, { token });

const write = (path: string, fields: object, token: string) =>
  call(`v1/${root}/${path}`, { method: 'PATCH', token, body: { fields } });

/** A conversation with its head and its status document, written past the rules. */
async function conversationOf(ownerUid: string, state = 'live'): Promise<string> {
  const conversationId = crypto.randomUUID();
  const head = { ownerUid: { stringValue: ownerUid }, state: { stringValue: state } };
  const status = { tokens: { integerValue: '8123' } };
  await write(headPath(conversationId), head, asServer);
  const written = await write(statusPath(conversationId), status, asServer);
  if (written.status !== 200) throw new Error(`not written: ${written.body}`);
  return conversationId;
}

beforeAll(async () => {
  const content = await readFile(
    new URL('../../infra/firestore/firestore.rules', import.meta.url),
    'utf8',
  );
  const { status, body } = await call(`emulator/v1/projects/${projectId}:securityRules`, {
    method: 'PUT',
    token: asServer,
    body: { rules: { files: [{ name: 'firestore.rules', content }] } },
  });
  if (status !== 200) throw new Error(`the emulator refused the rules: ${body}`);
});

describe('the status document', () => {
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
    const path = statusPath(crypto.randomUUID());
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

describe('everything else', () => {
  test.each([
    { name: 'the head', path: headPath },
    { name: 'a turn', path: (c: string) => turnPath(c, 1) },
    { name: 'a message guard', path: (c: string) => messageGuardPath(c, 'm1') },
    { name: 'a history', path: (c: string) => historyPath(c, 1) },
    { name: 'the compaction job', path: compactionJobPath },
    { name: 'another public document', path: (c: string) => `${headPath(c)}/public/other` },
    { name: 'a user', path: () => 'users/ann' },
    { name: 'the configuration', path: () => 'config/compaction' },
  ])('$name is neither read nor written by the owner', async ({ path }) => {
    const document = path(await conversationOf('ann'));

    const reading = await read(document, asUser('ann'));
    const writing = await write(document, { ownerUid: { stringValue: 'ann' } }, asUser('ann'));

    expect([reading.status, writing.status]).toEqual([403, 403]);
  });

  test.each([
    { name: 'conversations', parent: () => '', collectionId: 'conversations' },
    { name: 'status documents', parent: (c: string) => `/${headPath(c)}`, collectionId: 'public' },
    { name: 'turns', parent: (c: string) => `/${headPath(c)}`, collectionId: 'turns' },
  ])('$name are not listed by the owner', async ({ parent, collectionId }) => {
    const conversationId = await conversationOf('ann');
    const query = { structuredQuery: { from: [{ collectionId }], limit: 1 } };

    const { status } = await call(`v1/${root}${parent(conversationId)}:runQuery`, {
      method: 'POST',
      token: asUser('ann'),
      body: query,
    });

    expect(status).toBe(403);
  });
});
