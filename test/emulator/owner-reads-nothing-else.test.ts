import { beforeAll, describe, expect, test } from 'vitest';
import {
  blobPiecePath,
  budgetShardPath,
  chunkPath,
  compactionJobPath,
  devicePath,
  conversationPath,
  historyPath,
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
  { name: 'a stored tool output', path: (c) => blobPiecePath(c, { sha256: 'ab', index: 0 }) },
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
/** A document as the server writes it, that names ann as its owner wherever a rule might look. */
async function store(document: string): Promise<string> {
  const owned = { ownerUid: { stringValue: 'ann' }, state: { stringValue: 'live' } };
  const { status, body } = await write(document, owned, asServer);
  if (status !== 200) throw new Error(`not written: ${body}`);
  return document;
}

describe('S19: everything else', () => {
  test.each(hidden)('S19: denies the owner reading $name', async ({ path }) => {
    const document = await store(path(await conversationOf('ann')));

    expect((await read(document, asUser('ann'))).status).toBe(403);
    expect((await read(document, asServer)).status).toBe(200);
  });

  test.each(hidden)(
    'S19: denies a stranger and an anonymous caller reading $name',
    async ({ path }) => {
      const document = await store(path(await conversationOf('ann')));

      const readings = await Promise.all([read(document, asUser('bob')), read(document)]);

      expect(readings.map(({ status }) => status)).toEqual([403, 403]);
    },
  );

  test.each(hidden)(
    'S19: denies the owner creating, changing or deleting $name',
    async ({ path }) => {
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
    },
  );
});

describe('S19: a list', () => {
  const inConversation = (c: string) => `/${conversationPath(c)}`;
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
    { parent: () => '/quotas/ann', collectionId: 'usage' },
    { parent: ofUser, collectionId: 'memory' },
    { parent: () => '', collectionId: 'config' },
    { parent: () => '', collectionId: 'appCheckTokens' },
  ];

  const query = (parent: string, structuredQuery: object, token?: string) =>
    call(`v1/${root}${parent}:runQuery`, { method: 'POST', token, body: { structuredQuery } });

  test.each(collections)('S19: denies listing $collectionId', async ({ parent, collectionId }) => {
    const above = parent(await conversationOf('ann'));

    const listed = await call(`v1/${root}${above}/${collectionId}`, { token: asUser('ann') });
    const queried = await query(above, { from: [{ collectionId }], limit: 1 }, asUser('ann'));

    expect([listed.status, queried.status]).toEqual([403, 403]);
  });

  test.each(['public', 'turns', 'histories', 'devices', 'memory', 'conversations'])(
    'S19: denies listing %s across all conversations and users',
    async (collectionId) => {
      await conversationOf('ann');
      const from = [{ collectionId, allDescendants: true }];

      expect((await query('', { from }, asUser('ann'))).status).toBe(403);
      expect((await query('', { from })).status).toBe(403);
    },
  );

  test('S19: denies listing conversations, even the caller’s own', async () => {
    await conversationOf('ann');
    const value = { stringValue: 'ann' };
    const where = { fieldFilter: { field: { fieldPath: 'ownerUid' }, op: 'EQUAL', value } };
    const own = { from: [{ collectionId: 'conversations' }], where };

    expect((await query('', own, asUser('ann'))).status).toBe(403);
    expect((await query('', own, asServer)).status).toBe(200);
  });
});
