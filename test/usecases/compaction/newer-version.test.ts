import {
  compactionJobPath,
  conversationPath,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import type { DocumentFields, DocumentStore } from '#shared/ports/ports.ts';
import {
  buildDue,
  compactOnce,
  compactionBench,
  sweep,
  sweepBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { post, pushOf, requestFor, serve } from '#test/support/processes/pushing.ts';
import { expect, test } from 'vitest';

/** As a later release leaves a document. */
async function raise(store: DocumentStore, path: string): Promise<void> {
  const fields = { schemaVersion: 2 };
  await store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);
}

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
  const path = conversationPath(conversationId);
  const fields = { compactionRequests: { manual: need } };
  await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);
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
  const path = conversationPath(conversationId);
  const fields = { compactionRequests: { auto: need } };
  await bench.store.commit([{ op: 'update', path, fields, guard: { exists: true } }]);
  await raise(bench.store, compactionJobPath(conversationId));

  const counts = await sweep(bench);

  expect(counts).toMatchObject({ requestsDropped: 0, failed: 1 });
  const after = await stored(bench.store, conversationId);
  expect(after.fields['compactionRequests']).toMatchObject({ auto: { requestId: 'again' } });
});
