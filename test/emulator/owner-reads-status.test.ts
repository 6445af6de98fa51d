import { randomUUID } from 'node:crypto';
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
    ['a user whose id names a collection', asUser('conversations/ann')],
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
    ['turns', inConversation],
    ['histories', inConversation],
    ['jobs', inConversation],
    ['users', () => ''],
    ['devices', ofUser],
    ['memory', ofUser],
    ['config', () => ''],
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
