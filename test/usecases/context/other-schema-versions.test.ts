import { setConversation } from '#test/support/chat/lifecycle.ts';
import {
  conversationPath,
  inboxPath,
  turnPath,
  compactionJobPath,
} from '#shared/conversation/documents/paths.ts';
import type { DocumentFields, DocumentStore } from '#shared/ports/ports.ts';
import { conversationListResponse } from '#shared/wire/resources/inbox.ts';
import { serveForTest, readAs } from '#test/support/chat/chat-server.ts';
import {
  buildDue,
  compactOnce,
  compactionBench,
  sweep,
  sweepBench,
  updateDocument,
} from '#test/support/compaction/compacted-conversation.ts';
import { buildConversation } from '#test/support/compaction/conversation-builder.ts';
import { post, pushOf, requestFor, serve } from '#test/support/processes/pushing.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

/** As a later release leaves a document. */
const raise = (store: DocumentStore, path: string) =>
  updateDocument(store, path, { schemaVersion: 2 });

/** A conversation of two turns, one document of which has these fields as well. */
async function serveWith(pathOf: (conversationId: string) => string, fields: DocumentFields) {
  const chat = await serveForTest();
  const { store } = chat.dependencies;
  const { conversationId } = await buildConversation(store, {
    turns: 2,
    conversation: { ownerUid: 'alice' },
  });
  const path = pathOf(conversationId);
  await updateDocument(store, path, fields);
  const sent = await chat.call(`/v1/conversations/${conversationId}/messages`, {
    method: 'POST',
    body: { message: { id: randomUUID(), parts: [{ type: 'text', text: 'Hello?' }] } },
  });
  const [after] = await store.get([path]);
  return { sent, after: after?.fields, chat };
}

test('unknown fields of a later version’s conversation document are ignored and kept', async () => {
  const { sent, after } = await serveWith(conversationPath, { addedLater: 'kept' });

  expect(sent.status).toBe(200);
  expect(after).toMatchObject({ addedLater: 'kept', lastSeq: 3 });
});

test.each([
  ['head', conversationPath],
  ['turn', (conversationId: string) => turnPath(conversationId, 2)],
])(
  'a message to a conversation whose %s has a later schema version is retryable, unchanged',
  async (_, pathOf) => {
    const { sent, after, chat: server } = await serveWith(pathOf, { schemaVersion: 2 });

    expect(sent.status).toBe(503);
    expect(sent.headers.get('retry-after')).toBe('30');
    expect(await sent.json()).toMatchObject({
      error: {
        message: expect.stringContaining('(schema 2)'),
        details: [
          { reason: 'STORED_BY_NEWER_VERSION', metadata: { stored: '2', known: '1' } },
          { retryDelay: '30s' },
          { links: [{ url: expect.stringMatching(/STORED_BY_NEWER_VERSION$/) }] },
        ],
      },
    });
    expect(after).toMatchObject({ schemaVersion: 2 });
    expect(server.logs).toContainEqual(
      expect.objectContaining({
        severity: 'ERROR',
        event: 'request',
        fields: expect.objectContaining({
          reason: 'STORED_BY_NEWER_VERSION',
          detail: expect.stringContaining('deploy the release that wrote it'),
        }),
      }),
    );
  },
);

test('a conversation of a later schema version is skipped in the list', async () => {
  const chat = await serveForTest();
  const { store } = chat.dependencies;
  const build = () => buildConversation(store, { turns: 1, conversation: { ownerUid: 'alice' } });
  const built = [await build(), await build(), await build()];
  await raise(store, inboxPath('alice', built[1]?.conversationId ?? ''));

  const first = await readAs(
    conversationListResponse,
    await chat.call('/v1/conversations?pageSize=2'),
  );
  const query = `pageSize=2&pageToken=${first.nextPageToken}`;
  const second = await readAs(
    conversationListResponse,
    await chat.call(`/v1/conversations?${query}`),
  );

  const listed = [...first.conversations, ...second.conversations].map(({ id }) => id);
  expect(new Set(listed)).toEqual(
    new Set([built[0], built[2]].map((kept) => kept?.conversationId)),
  );
  expect(chat.logs).toContainEqual(
    expect.objectContaining({ severity: 'WARNING', event: 'conversation_not_listed' }),
  );
});

test.each(['', '/messages'])(
  'a conversation of a later schema version is shown to its owner alone: GET …%s',
  async (under) => {
    const chat = await serveForTest();
    const { store } = chat.dependencies;
    const conversation = { ownerUid: 'alice' };
    const { conversationId } = await buildConversation(store, { turns: 1, conversation });
    await raise(store, conversationPath(conversationId));
    const unknown = randomUUID();
    const get = (id: string, uid: string) => chat.call(`/v1/conversations/${id}${under}`, { uid });

    const [own, foreign, none] = await Promise.all([
      get(conversationId, 'alice'),
      get(conversationId, 'mallory'),
      get(unknown, 'mallory'),
    ]);

    expect([own?.status, foreign?.status, none?.status]).toEqual([503, 404, 404]);
    expect(await foreign?.json()).toEqual(await none?.json());
  },
);

/** What the conversation document says, and how many snapshots there are. */
async function stored(store: DocumentStore, conversationId: string) {
  const [conversation] = await store.get([conversationPath(conversationId)]);
  const collection = `${conversationPath(conversationId)}/histories`;
  const histories = await store.query({ collection, limit: 10 });
  const fields: DocumentFields = conversation?.fields ?? {};
  return { fields, snapshots: histories.length };
}

test.each([
  ['head', conversationPath],
  ['turn', (conversationId: string) => turnPath(conversationId, 2)],
])(
  'a conversation whose %s a later release wrote is not folded, and its event redelivered',
  async (_, pathOf) => {
    const bench = compactionBench();
    const conversationId = await buildDue(bench);
    await raise(bench.store, pathOf(conversationId));
    const before = await stored(bench.store, conversationId);

    const response = await post(await serve(bench), pushOf(requestFor(conversationId)));

    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('30');
    expect(await stored(bench.store, conversationId)).toEqual(before);
    expect(before.snapshots).toBe(0);
    expect(bench.logged).toContainEqual(
      expect.objectContaining({
        event: 'compaction_push_failed',
        fields: { reason: 'STORED_BY_NEWER_VERSION' },
      }),
    );
  },
);

test('a snapshot that a later release signed is valid, and nothing is folded onto it', async () => {
  const bench = compactionBench();
  const conversationId = await buildDue(bench);
  await compactOnce(bench, conversationId);
  const [history] = await bench.store.query({
    collection: `${conversationPath(conversationId)}/histories`,
    limit: 1,
  });
  await raise(bench.store, history?.path ?? '');
  const need = { requestId: 'again', since: bench.clock.now() };
  await setConversation(bench, conversationId, { compactionRequests: { manual: need } });
  // Another instance: it has no history in its memory.
  const other = compactionBench({ store: bench.store });
  const response = await post(await serve(other), pushOf(requestFor(conversationId)));

  expect(response.status).toBe(503);
  expect((await stored(bench.store, conversationId)).snapshots).toBe(1);
  expect(other.logged.map(({ event }) => event)).not.toContain('history_unreadable');
});

test('a request whose job a later release wrote stays for that release', async () => {
  const bench = sweepBench();
  const conversationId = await buildDue(bench);
  await compactOnce(bench, conversationId);
  const need = { requestId: 'again', since: new Date(0), trigger: 'auto' };
  await setConversation(bench, conversationId, { compactionRequests: { auto: need } });
  await raise(bench.store, compactionJobPath(conversationId));

  const counts = await sweep(bench);

  expect(counts).toMatchObject({ requestsDropped: 0, failed: 1 });
  const after = await stored(bench.store, conversationId);
  expect(after.fields['compactionRequests']).toMatchObject({ auto: { requestId: 'again' } });
});
