import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { unsignedToken } from '../../infra/local/unsigned-token.ts';
import {
  blobPiecePath,
  budgetShardPath,
  chunkPath,
  compactionJobPath,
  devicePath,
  headPath,
  historyPath,
  messageGuardPath,
  ratingPath,
  spentAppCheckTokenPath,
  statusPath,
  turnPath,
  turnPiecePath,
  usagePath,
  userPath,
} from '../../shared/conversation/paths.ts';
import { demoProjectId, firestoreEmulatorHost } from '../support/emulator-environment.ts';

/** Rules belong to a project: a project of its own keeps them away from every other test. */
const projectId = demoProjectId();
const root = `projects/${projectId}/databases/(default)/documents`;
const host = firestoreEmulatorHost();

const asServer = 'owner';
const asUser = (uid: string) => unsignedToken({ uid, projectId, now: new Date() });

/** A token of the same form whose user has signed in anonymously. */
function asGuest(uid: string): string {
  const [header = '', claims = ''] = asUser(uid).split('.');
  const provider = { provider_id: 'anonymous', firebase: { sign_in_provider: 'anonymous' } };
  const guest = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), ...provider };
  return `${header}.${Buffer.from(JSON.stringify(guest)).toString('base64url')}.`;
}

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
    const conversationId = crypto.randomUUID();
    await write(headPath(conversationId), { state: { stringValue: 'live' } }, asServer);
    await write(statusPath(conversationId), { tokens: { integerValue: '1' } }, asServer);

    expect((await read(statusPath(conversationId), asUser('ann'))).status).toBe(403);
    expect((await read(statusPath(conversationId))).status).toBe(403);
  });

  test('is not made by the owner where there is none', async () => {
    const conversationId = crypto.randomUUID();
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

const piece = { of: 'u', index: 1 };
const chunk = { attempt: 1, n: 1 };

/** Every document of the store but the status, by its path in a conversation of ann. */
const hidden: { name: string; path: (conversationId: string) => string }[] = [
  { name: 'the head', path: headPath },
  { name: 'a turn', path: (c) => turnPath(c, 1) },
  { name: 'a piece of a turn', path: (c) => turnPiecePath({ conversationId: c, seq: 1 }, piece) },
  { name: 'a message guard', path: (c) => messageGuardPath(c, 'm1') },
  { name: 'a history', path: (c) => historyPath(c, 1) },
  { name: 'a rating', path: (c) => ratingPath(c, 1) },
  { name: 'the compaction job', path: compactionJobPath },
  { name: 'a stored tool output', path: (c) => blobPiecePath(c, { sha256: 'ab', index: 0 }) },
  { name: 'a chunk of a stream', path: (c) => chunkPath({ conversationId: c, seq: 1 }, chunk) },
  { name: 'another public document', path: (c) => `${headPath(c)}/public/other` },
  { name: 'a document below the status', path: (c) => `${statusPath(c)}/more/other` },
  { name: 'a user', path: () => userPath('ann') },
  { name: 'the usage of a user', path: () => usagePath('ann', '2026-01-02') },
  { name: 'a device of a user', path: () => devicePath('ann', 'phone') },
  { name: 'the budget', path: () => budgetShardPath('2026-01-02', 1) },
  { name: 'a spent App Check token', path: () => spentAppCheckTokenPath('ab') },
  { name: 'the configuration', path: () => 'config/compaction' },
  { name: 'a document that nobody knows', path: () => 'other/ann' },
];
/** A document as the server writes it, that names ann as its owner wherever a rule might look. */
async function store(document: string): Promise<string> {
  const owned = { ownerUid: { stringValue: 'ann' }, state: { stringValue: 'live' } };
  const { status, body } = await write(document, owned, asServer);
  if (status !== 200) throw new Error(`not written: ${body}`);
  return document;
}

describe('everything else', () => {
  test.each(hidden)('$name is not read by the owner', async ({ path }) => {
    const document = await store(path(await conversationOf('ann')));

    expect((await read(document, asUser('ann'))).status).toBe(403);
    expect((await read(document, asServer)).status).toBe(200);
  });

  test.each(hidden)('$name is not read by a stranger or by nobody', async ({ path }) => {
    const document = await store(path(await conversationOf('ann')));

    const readings = await Promise.all([read(document, asUser('bob')), read(document)]);

    expect(readings.map(({ status }) => status)).toEqual([403, 403]);
  });

  test.each(hidden)('$name is neither made, changed nor deleted by the owner', async ({ path }) => {
    const document = path(await conversationOf('ann'));
    const fields = { ownerUid: { stringValue: 'ann' }, state: { stringValue: 'live' } };

    const making = await write(`${document}-new`, fields, asUser('ann'));
    await store(document);
    const changing = await write(document, fields, asUser('ann'));
    const deleting = await call(`v1/${root}/${document}`, {
      method: 'DELETE',
      token: asUser('ann'),
    });

    expect([making, changing, deleting].map(({ status }) => status)).toEqual([403, 403, 403]);
    expect((await read(document, asServer)).status).toBe(200);
  });
});

describe('a list', () => {
  const inConversation = (c: string) => `/${headPath(c)}`;
  const ofUser = () => `/${userPath('ann')}`;
  const collections = [
    { parent: () => '', collectionId: 'conversations' },
    { parent: inConversation, collectionId: 'public' },
    { parent: inConversation, collectionId: 'turns' },
    { parent: inConversation, collectionId: 'messages' },
    { parent: inConversation, collectionId: 'histories' },
    { parent: inConversation, collectionId: 'jobs' },
    { parent: inConversation, collectionId: 'blobs' },
    { parent: () => '', collectionId: 'users' },
    { parent: ofUser, collectionId: 'devices' },
    { parent: ofUser, collectionId: 'usage' },
    { parent: () => '', collectionId: 'config' },
    { parent: () => '', collectionId: 'appCheckTokens' },
  ];

  const query = (parent: string, structuredQuery: object, token?: string) =>
    call(`v1/${root}${parent}:runQuery`, { method: 'POST', token, body: { structuredQuery } });

  test.each(collections)('of $collectionId is not given', async ({ parent, collectionId }) => {
    const above = parent(await conversationOf('ann'));

    const listed = await call(`v1/${root}${above}/${collectionId}`, { token: asUser('ann') });
    const queried = await query(above, { from: [{ collectionId }], limit: 1 }, asUser('ann'));

    expect([listed.status, queried.status]).toEqual([403, 403]);
  });

  test.each(['public', 'turns', 'histories', 'devices', 'conversations'])(
    'of %s across all conversations and users is not given',
    async (collectionId) => {
      await conversationOf('ann');
      const from = [{ collectionId, allDescendants: true }];

      expect((await query('', { from }, asUser('ann'))).status).toBe(403);
      expect((await query('', { from })).status).toBe(403);
    },
  );

  test('of conversations is not given for the own ones alone either', async () => {
    await conversationOf('ann');
    const value = { stringValue: 'ann' };
    const where = { fieldFilter: { field: { fieldPath: 'ownerUid' }, op: 'EQUAL', value } };
    const own = { from: [{ collectionId: 'conversations' }], where };

    expect((await query('', own, asUser('ann'))).status).toBe(403);
    expect((await query('', own, asServer)).status).toBe(200);
  });
});
