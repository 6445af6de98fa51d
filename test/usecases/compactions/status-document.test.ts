import { createMemoryDocumentStore } from '#infra/local/embedded/memory-document-store.ts';
import { conversationPath, statusPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { compactionListResponse } from '#shared/wire/resources/compaction.ts';
import { contextObjectResponse } from '#shared/wire/resources/context-object.ts';
import { createScriptedModel } from '#test/fakes/scripted-model.ts';
import { type WireApp, createWireApp } from '#test/support/chat/wire-app.ts';
import {
  buildDue,
  compactOnce,
  compactionBench,
} from '#test/support/compaction/compacted-conversation.ts';
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';

const uid = 'alice';

/** A store that keeps every state of a conversation's status document. */
function watchedStore() {
  const store = createMemoryDocumentStore();
  const seen: unknown[] = [];
  let watched = '';
  const read = async () => (await store.get([statusPath(watched)]))[0]?.fields;
  const watching: DocumentStore = {
    ...store,
    commit: async (writes) => {
      const committed = await store.commit(writes);
      if (writes.some(({ path }) => path === statusPath(watched))) seen.push(await read());
      return committed;
    },
  };
  return { store: watching, seen, read, watch: (id: string) => (watched = id) };
}

/** Chat and worker over one store, and a conversation whose threshold is exceeded. */
async function world() {
  const status = watchedStore();
  const app = createWireApp({ store: status.store });
  const bench = compactionBench({ store: status.store });
  const id = await buildDue(bench, { conversation: { ownerUid: uid } });
  status.watch(id);
  const call = (method: string, path: string, body?: object) =>
    app.ok({ method, path: `/v1/${conversationPath(id)}${path}`, uid, body });
  return { app, bench, status, id, call };
}

/** What is seen and is not, field by field, what the schema says. */
const strange = (seen: readonly unknown[]) =>
  seen.filter((document) => {
    const { data } = contextObjectResponse.safeParse(document);
    return JSON.stringify(sorted(data)) !== JSON.stringify(sorted(document));
  });

/** The same value with the names of every object in order; a field that is undefined shows. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value instanceof Date) return `a Date: ${value.toISOString()}`;
  if (typeof value !== 'object' || value === null) return value ?? String(value);
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, field]) => [name, sorted(field)]);
}

const message = (text: string) => ({
  message: { id: randomUUID(), parts: [{ type: 'text', text }] },
});

const statesOf = (seen: readonly unknown[]) =>
  seen.map((document) => contextObjectResponse.parse(document).compaction?.state);

test('the status document has exactly what its schema says through every change', async () => {
  const { bench, status, id, call } = await world();

  await call('POST', '/messages', message('Hello'));
  await compactOnce(bench, id);
  await call('POST', '/messages/m_21:regenerate', {});
  const edited = message('Hello again');
  await call('POST', '/messages', edited);
  await call('POST', `/messages/${edited.message.id}:edit`, message('Hello once more'));
  await call('POST', ':restore', { generation: 1 });
  await call('POST', ':compact', {});
  const { compaction } = contextObjectResponse.parse(await status.read());
  await call('POST', `/compactions/${compaction?.jobId}:cancel`);
  await call('DELETE', '/messages/m_21');

  expect(strange(status.seen)).toEqual([]);
  expect(statesOf(status.seen)).toEqual(
    expect.arrayContaining(['RUNNING', 'VERIFYING', 'COMPACTED', 'QUEUED', 'ABORTED']),
  );
  expect(status.seen.length).toBeGreaterThan(8);
});

test('the status document of a failed compaction has exactly what its schema says', async () => {
  const { status, id, call } = await world();
  const model = createScriptedModel({ answers: [''] });
  const failing = compactionBench({ store: status.store, model });

  await compactOnce(failing, id);
  await call('POST', '/messages', message('Hello'));

  expect(strange(status.seen)).toEqual([]);
  expect(status.seen).not.toEqual([]);
});

async function kindsOf(app: WireApp, id: string) {
  const answer = await app.ok({ method: 'GET', path: `/v1/conversations/${id}/compactions`, uid });
  const { compactions } = compactionListResponse.parse(answer);
  return compactions.map(({ generation, kind }) => `${generation} ${kind}`);
}

test('an edit, a regeneration, a deletion and a restore are no compactions in the list', async () => {
  const { app, bench, id, call } = await world();
  await compactOnce(bench, id);
  const said = message('Hello');
  await call('POST', '/messages', said);

  await call('POST', '/messages/m_21:regenerate', {});
  await call('DELETE', '/messages/m_3');
  await call('POST', ':restore', { generation: 0 });

  const [newest, ...others] = await kindsOf(app, id);
  expect(newest).toContain('restore');
  expect(others.filter((each) => each.endsWith('change')).length).toBeGreaterThan(1);
  expect(others.at(-1)).toBe('1 compaction');
});
