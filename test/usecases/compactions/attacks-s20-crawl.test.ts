import { updateDocument } from '#test/support/compaction/compacted-conversation.ts';
import { eraseOwnConversation } from '#functions/chat/conversations/erase/delete-conversation.ts';
import type { DocumentFields } from '#shared/ports/ports.ts';
import {
  erase,
  remainsOf,
  serveErasures,
  CANARY,
  compacted,
  lifecycle,
  owner,
  setConversation,
  type Lifecycle,
} from '#test/support/chat/lifecycle.ts';
import { expect, test } from 'vitest';
import * as paths from '#shared/conversation/documents/paths.ts';

/* Row S20 of the security checklist: what is left in the whole store, path by path. */

const UID = 'u1';
const at = new Date('2026-01-02T03:04:05.000Z');
const says = { text: CANARY, uid: UID, expireTime: at };

/** Every kind of document below a conversation, by the function that builds its path. */
const below: Readonly<Record<string, (conversationId: string) => string>> = {
  turnPath: (id) => paths.turnPath(id, 90),
  turnPiecePath: (id) =>
    paths.turnPiecePath({ conversationId: id, seq: 90 }, { of: 'a2', index: 1 }),
  messageGuardPath: (id) => paths.messageGuardPath(id, 'message-90'),
  historyPath: (id) => paths.historyPath(id, 90),
  recallPath: (id) => paths.recallPath(id, 1),
  ratingPath: (id) => paths.ratingPath(id, 1),
  compactionJobPath: (id) => paths.compactionJobPath(id),
  statusPath: (id) => paths.statusPath(id),
  chunkPath: (id) =>
    paths.chunkPath({ conversationId: id, seq: 90, attempt: 1 }, { lastId: 1, producer: 'p' }),
};
/** Every kind below a user. */
const ofUser: Readonly<Record<string, string>> = {
  userPath: paths.userPath(UID),
  usagePath: paths.usagePath(UID, '2025-12-30'),
  notesPath: paths.notesPath(UID),
  devicePath: paths.devicePath(UID, 'phone-1'),
  inboxPath: paths.inboxPath(UID, 'conversation-1'),
  claimPath: paths.claimPath('guest-1'),
  chatNamePath: paths.chatNamePath(UID, 'f'.repeat(64)),
  uploadPath: paths.uploadPath(UID, 'upload-1'),
};
/** What holds nothing of anybody, or is only built upon; the tombstone is looked at field by field. */
const ofNobody = [
  'conversationPath',
  'streamPath',
  'budgetShardPath',
  'requestPlacesPath',
  'spentAppCheckTokenPath',
];

const write = async ({ store }: Pick<Lifecycle, 'store'>, all: readonly string[]) => {
  const known = await store.get([...all]);
  const missing = all.filter((_, index) => known[index] === undefined);
  await store.commit(missing.map((path) => ({ op: 'create' as const, path, fields: says })));
};

const lease = { owner: 'w1', fence: 3, until: at };
/** Fields of a conversation document at the moment of the erasure. */
const states: Readonly<Record<string, DocumentFields>> = {
  finished: {},
  'running a turn, or waiting for the app’s tool': { open: { seq: 21, leaseUntil: at } },
  'with a turn that waits in the queue': { queue: { first: 21, leaseUntil: at } },
  'waiting for a compaction by hand': {
    'compactionRequests.manual': { requestId: 'r1', since: at, focus: CANARY },
  },
  'in the middle of the erasure of a message': {
    pendingErasure: { since: at, seqs: [3] },
  },
  'that expires': { expireTime: at },
};

test('S20: an erasure is tested with every kind of path', () => {
  const built = Object.keys(paths).filter((name) => name.endsWith('Path'));

  const tried = [...Object.keys(below), ...Object.keys(ofUser), ...ofNobody];
  expect(tried.toSorted()).toEqual(built.toSorted());
});

test.each(Object.entries(states))(
  'S20: erasing a user leaves no word or uid on any path: a conversation %s',
  async (_, fields) => {
    const world = lifecycle();
    const conversationId = await compacted(world);
    await setConversation(world, conversationId, fields);
    await write(
      world,
      Object.values(below).map((pathOf) => pathOf(conversationId)),
    );
    await write(world, Object.values(ofUser));
    await updateDocument(world.store, paths.compactionJobPath(conversationId), { lease });

    await erase(world);

    expect(await remainsOf(world)).toEqual([]);
    expect((await world.documents()).map(({ path }) => path)).toEqual([
      paths.conversationPath(conversationId),
    ]);
  },
);

test('S20: erasing one conversation leaves no word of it, but the user’s own documents', async () => {
  const world = lifecycle();
  const conversationId = await compacted(world);
  await write(
    world,
    Object.values(below).map((pathOf) => pathOf(conversationId)),
  );
  await world.store.commit([
    { op: 'create', path: paths.devicePath(UID, 'phone-1'), fields: { token: 'x' } },
  ]);

  await eraseOwnConversation(world.chat, { caller: owner, conversationId });
  await serveErasures(world);

  const left = (await world.documents()).map(({ path }) => path);
  // The entry says no more than that it is gone, for the user's other devices.
  const ofTheUser = [paths.devicePath(UID, 'phone-1'), paths.inboxPath(UID, conversationId)];
  expect(left.toSorted()).toEqual([paths.conversationPath(conversationId), ...ofTheUser]);
  expect((await remainsOf(world)).toSorted()).toEqual(ofTheUser);
  const [entry] = await world.store.get(ofTheUser.slice(1));
  expect(Object.keys(entry?.fields ?? {}).toSorted()).toEqual([
    'changeTime',
    'expireTime',
    'list',
    'schemaVersion',
  ]);
});
