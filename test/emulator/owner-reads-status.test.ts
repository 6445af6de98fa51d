import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import {
  budgetShardPath,
  chunkPath,
  compactionJobPath,
  devicePath,
  conversationPath,
  historyPath,
  inboxPath,
  messageGuardPath,
  notesPath,
  ratingPath,
  spentAppCheckTokenPath,
  statusPath,
  turnPath,
  turnPiecePath,
  usagePath,
  userPath,
} from '#shared/conversation/documents/paths.ts';
import {
  demoProjectId,
  firestoreEmulatorHost,
} from '#test/support/processes/emulator-environment.ts';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';

/** Rules belong to a project: a project of its own keeps them away from every other test. */
const projectId = demoProjectId();
/** The documents of the project. */
const root = `projects/${projectId}/databases/(default)/documents`;
const host = firestoreEmulatorHost();

/** Passes the rules. */
const asServer = 'owner';
/** A token of a user who has signed in by name. */
const asUser = (uid: string) => unsignedToken({ uid, projectId, now: new Date() });

/** A token of the same form whose user has signed in anonymously. */
function asGuest(uid: string): string {
  const [header = '', claims = ''] = asUser(uid).split('.');
  const provider = { provider_id: 'anonymous', firebase: { sign_in_provider: 'anonymous' } };
  const guest = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), ...provider };
  return `${header}.${Buffer.from(JSON.stringify(guest)).toString('base64url')}.`;
}

/** A request to the emulator’s REST API. */
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

/** Reads a document; without a token as nobody. */
const read = (path: string, token?: string) => call(`v1/${root}/${path}`, { token });

/** Writes the fields of a document. */
const write = (path: string, fields: object, token: string) =>
  call(`v1/${root}/${path}`, { method: 'PATCH', token, body: { fields } });

/** A conversation with its conversation document and its status document, written past the rules. */
async function conversationOf(ownerUid: string, state = 'live'): Promise<string> {
  const conversationId = randomUUID();
  const conversation = { ownerUid: { stringValue: ownerUid }, state: { stringValue: state } };
  const status = { tokens: { integerValue: '8123' } };
  await write(conversationPath(conversationId), conversation, asServer);
  const written = await write(statusPath(conversationId), status, asServer);
  if (written.status !== 200) throw new Error(`not written: ${written.body}`);
  return conversationId;
}

/** Puts the rules of the repository in force in the project. */
async function enforceRules(): Promise<void> {
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
}

beforeAll(enforceRules);

const ofAnn = { ownerUid: { stringValue: 'ann' }, state: { stringValue: 'live' } };
const tokens = { tokens: { integerValue: '1' } };

describe('S19: the status document', () => {
  test('S19: the status document can be read by the conversation’s owner, also as a guest', async () => {
    const [hers, own] = [await conversationOf('ann'), await conversationOf('guest')];

    const { status, body } = await read(statusPath(hers), asUser('ann'));

    expect(status).toBe(200);
    expect(body).toContain('8123');
    expect((await read(statusPath(own), asGuest('guest'))).status).toBe(200);
  });

  test.each([
    ['another user', asUser('bob')],
    ['a guest who owns another conversation', asGuest('guest')],
    ['a user called null', asUser('null')],
    ['a user whose id differs in case', asUser('Ann')],
    ['a caller without a token', undefined],
  ])('S19: the status document is hidden from %s', async (_, token) => {
    const conversationId = await conversationOf('ann');

    expect((await read(statusPath(conversationId), token)).status).toBe(403);
  });

  test.each(['forking', 'deleted', 'erasing', 'erased'])(
    'S19: the status document is hidden from the owner while the conversation is %s',
    async (state) => {
      const conversationId = await conversationOf('ann', state);

      expect((await read(statusPath(conversationId), asUser('ann'))).status).toBe(403);
    },
  );

  test('S19: the status document is hidden where the conversation is missing or names no owner', async () => {
    const [missing, nameless] = [randomUUID(), randomUUID()];
    await write(conversationPath(nameless), { state: { stringValue: 'live' } }, asServer);

    for (const conversationId of [missing, nameless]) {
      await write(statusPath(conversationId), tokens, asServer);
      expect((await read(statusPath(conversationId), asUser('ann'))).status).toBe(403);
    }
  });

  test('S19: the status document cannot be created, changed or deleted by its owner', async () => {
    const [conversationId, without] = [await conversationOf('ann'), randomUUID()];
    await write(conversationPath(without), ofAnn, asServer);
    const path = statusPath(conversationId);

    const made = await write(statusPath(without), tokens, asUser('ann'));
    const changed = await write(path, tokens, asUser('ann'));
    const deleted = await call(`v1/${root}/${path}`, { method: 'DELETE', token: asUser('ann') });

    expect([made, changed, deleted].map(({ status }) => status)).toEqual([403, 403, 403]);
    expect((await read(path, asServer)).body).toContain('8123');
  });
});

describe('S19: the inbox', () => {
  const entry = { title: { stringValue: 'The boat' } };
  const list = (uid: string, token?: string) =>
    call(`v1/${root}/${userPath(uid)}/inbox`, token === undefined ? {} : { token });

  test('S19: the inbox can be read and listed by its user, also as a guest', async () => {
    const uid = `user-${randomUUID()}`;
    const path = inboxPath(uid, randomUUID());
    await write(path, entry, asServer);

    const answers = [
      await read(path, asUser(uid)),
      await list(uid, asUser(uid)),
      await list(uid, asGuest(uid)),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ body }) => body.includes('The boat'))).toEqual([true, true, true]);
  });

  test('S19: the inbox is hidden from everybody else, and written by nobody', async () => {
    const uid = `user-${randomUUID()}`;
    const path = inboxPath(uid, randomUUID());
    await write(path, entry, asServer);

    const denied = await Promise.all([
      read(path, asUser('bob')),
      read(path),
      list(uid, asUser('bob')),
      list(uid),
      write(path, entry, asUser(uid)),
      write(inboxPath(uid, randomUUID()), entry, asUser(uid)),
      call(`v1/${root}/${path}`, { method: 'DELETE', token: asUser(uid) }),
    ]);

    expect(denied.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403, 403]);
  });

  test('S19: the inbox of a user whose id is stored encoded is hidden from who is called like that', async () => {
    const path = inboxPath('ann/b', randomUUID());
    await write(encodeURI(path), entry, asServer);
    expect((await read(encodeURI(path), asServer)).status).toBe(200);

    const denied = await Promise.all([
      read(encodeURI(path), asUser('ann%2Fb')),
      call(`v1/${root}/${encodeURI(userPath('ann/b'))}/inbox`, { token: asUser('ann%2Fb') }),
    ]);

    expect(denied.map(({ status }) => status)).toEqual([403, 403]);
  });
});

const piece = { of: 'u', index: 1 };
const chunk = { lastId: 1, producer: 'p' };

/** Every document of the store but the status, by its path in a conversation of ann. */
const hidden: { name: string; path: (conversationId: string) => string }[] = [
  { name: 'the head', path: conversationPath },
  { name: 'a turn', path: (c) => turnPath(c, 1) },
  { name: 'a piece of a turn', path: (c) => turnPiecePath({ conversationId: c, seq: 1 }, piece) },
  { name: 'a message guard', path: (c) => messageGuardPath(c, 'm1') },
  { name: 'a history', path: (c) => historyPath(c, 1) },
  { name: 'a rating', path: (c) => ratingPath(c, 1) },
  { name: 'the compaction job', path: compactionJobPath },
  {
    name: 'a chunk of a stream',
    path: (c) => chunkPath({ conversationId: c, seq: 1, attempt: 1 }, chunk),
  },
  { name: 'another public document', path: (c) => `${conversationPath(c)}/public/other` },
  { name: 'a document below the status', path: (c) => `${statusPath(c)}/more/other` },
  { name: 'a user', path: () => userPath('ann') },
  { name: 'the usage of a user', path: () => usagePath('ann', '2026-01-02') },
  { name: 'a device of a user', path: () => devicePath('ann', 'phone') },
  { name: 'the notes about a user', path: () => notesPath('ann') },
  { name: 'the budget', path: () => budgetShardPath('2026-01-02', 'instance-1') },
  { name: 'a spent App Check token', path: () => spentAppCheckTokenPath('ab') },
  { name: 'the configuration', path: () => 'config/compaction' },
  { name: 'a document that nobody knows', path: () => 'other/ann' },
];

describe('S19: everything else', () => {
  test.each(hidden)('S19: denies everybody reading or writing $name', async ({ path }) => {
    const document = path(await conversationOf('ann'));
    // It names ann as its owner wherever a rule might look.
    await write(document, ofAnn, asServer);

    const denied = await Promise.all([
      read(document, asUser('ann')),
      read(document, asUser('bob')),
      read(document),
      write(`${document}-new`, ofAnn, asUser('ann')),
      write(document, ofAnn, asUser('ann')),
      call(`v1/${root}/${document}`, { method: 'DELETE', token: asUser('ann') }),
    ]);

    expect(denied.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403, 403]);
    expect((await read(document, asServer)).status).toBe(200);
  });

  const inConversation = (c: string) => `/${conversationPath(c)}`;
  const ofUser = () => `/${userPath('ann')}`;

  const query = (parent: string, structuredQuery: object, token?: string) =>
    call(`v1/${root}${parent}:runQuery`, { method: 'POST', token, body: { structuredQuery } });

  test.each<[string, (conversationId: string) => string]>([
    ['conversations', () => ''],
    ['public', inConversation],
    ['jobs', inConversation],
    ['users', () => ''],
    ['memory', ofUser],
  ])('S19: denies listing %s, also across all conversations and users', async (id, parent) => {
    const above = parent(await conversationOf('ann'));
    const everywhere = { from: [{ collectionId: id, allDescendants: true }] };

    const listed = await Promise.all([
      call(`v1/${root}${above}/${id}`, { token: asUser('ann') }),
      query(above, { from: [{ collectionId: id }], limit: 1 }, asUser('ann')),
      query('', everywhere, asUser('ann')),
      query('', everywhere),
    ]);

    expect(listed.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });

  test('S19: denies listing conversations, even the caller’s own', async () => {
    await conversationOf('ann');
    const value = { stringValue: 'ann' };
    const where = { fieldFilter: { field: { fieldPath: 'ownerUid' }, op: 'EQUAL', value } };
    const own = { from: [{ collectionId: 'conversations' }], where };

    expect((await query('', own, asUser('ann'))).status).toBe(403);
    expect((await query('', own, asServer)).status).toBe(200);
  });
});
